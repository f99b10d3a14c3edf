import { cookieOf, makeLink, sendForm, sendLink, visit } from '../../admin/settings/people';
import { client } from '../../support/client';
import { makeKey, makeNorthwind } from '../../support/factories';
import { late } from '../../support/gateway';
import { BASE, startBelowPath } from '../../support/pathProxy';

/* A gateway below a path of its host (PUBLIC_URL). */

const gateway = late(() => startBelowPath({ INTROSPECTION: 'public' }));
afterAll(() => gateway.stop());
const organisation = late(() => makeNorthwind(gateway, 3));
const key = late(() => makeKey(gateway, organisation));

const host = (): string => new URL(gateway.url).origin;
const ADDRESS = /(?:href|src|action)="(\/[^"]*)"/g;

/** Every address in a page's attributes. */
async function addressesOf(path: string, cookie = ''): Promise<string[]> {
  const page = await visit(gateway, path, cookie);
  const text = await page.text();
  expect([path, page.headers.get('content-type')]).toEqual([path, 'text/html; charset=utf-8']);
  expect(text).toContain(`<html data-base="${BASE}" `);
  return [...text.matchAll(ADDRESS)].map(([, address = '']) => address);
}

test('every address in every page leads to the gateway', async () => {
  const link = await makeLink(gateway, organisation);
  const cookie = cookieOf(await sendLink(gateway, link));
  const pages = [
    '/',
    '/errors',
    '/errors/not_found',
    '/guides',
    '/guides/webhooks',
    '/guides/jobs/catalogue',
    '/api/v1/docs',
    '/api/v1/docs/orders/list',
    '/graphql',
    '/graphiql',
    '/no-such-page',
  ];
  const found = new Set<string>();
  for (const path of [...pages, '/settings/sign-in', `/settings/sign-in?link=${await makeLink(gateway, organisation)}`])
    for (const address of await addressesOf(path)) found.add(address);
  for (const path of ['/settings/integrations', '/settings/keys', '/settings/nothing'])
    for (const address of await addressesOf(path, cookie)) found.add(address);
  expect(found.size).toBeGreaterThan(20);
  for (const address of found) {
    const answer = await fetch(host() + address, { headers: { accept: 'text/html,*/*', cookie }, redirect: 'manual' });
    // a form's action
    const isThere = answer.status < 400 || (answer.status === 405 && /mode$|sign-out$/.test(address));
    expect([address, isThere]).toEqual([address, true]);
    await answer.text();
  }
});

test('signing in and out stays below the path, with a cookie of its own name', async () => {
  const asked = await visit(gateway, '/settings/keys');
  expect(asked.headers.get('location')).toBe(`${BASE}/settings/sign-in`);
  const wanted = cookieOf(asked);
  const signedIn = await sendForm(
    gateway,
    '/settings/sign-in',
    { link: await makeLink(gateway, organisation) },
    { cookie: wanted },
  );
  expect([signedIn.status, signedIn.headers.get('location')]).toEqual([303, `${BASE}/settings/keys`]);
  const cookie = cookieOf(signedIn);
  expect(cookie).toContain('scopegate_session%2Fapps%2Fquotes=');
  const page = await (await visit(gateway, '/settings/keys', cookie)).text();
  const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const elsewhere = { cookie, origin: 'http://elsewhere.example' };
  expect((await sendForm(gateway, '/settings/sign-out', { csrf }, elsewhere)).status).toBe(403);
  // as a browser says of a page below the path
  const headers = { cookie, origin: host(), 'sec-fetch-site': 'same-origin' };
  const signedOut = await sendForm(gateway, '/settings/sign-out', { csrf }, headers);
  expect([signedOut.status, signedOut.headers.get('location')]).toEqual([303, `${BASE}/settings/sign-in`]);
});

test('links of answers, the OpenAPI document and the icon have the path', async () => {
  const caller = client(gateway, key.key);
  const list = await caller.get('/products', { limit: 2 });
  const [, next = ''] = /^<(.+)>; rel="next"$/.exec(list.headers.get('link') ?? '') ?? [];
  expect(next.startsWith(`${gateway.url}/api/v1/products?`)).toBe(true);
  const following = await fetch(next, { headers: { authorization: `Bearer ${key.key}` } });
  expect(following.status).toBe(200);
  const opened = await caller.post('/requests', { text: 'When does it arrive?' });
  expect(opened.headers.get('location')).toBe(`${gateway.url}/api/v1/requests/${String(opened.body.id)}`);
  const document = (await (await fetch(`${gateway.url}/api/v1/openapi.json`)).json()) as { servers: [{ url: string }] };
  expect(document.servers).toEqual([{ url: `${gateway.url}/api/v1` }]);
  const icon = await fetch(`${gateway.url}/favicon.ico`);
  expect([icon.status, new URL(icon.url).pathname.startsWith(`${BASE}/assets/`)]).toEqual([200, true]);
});
