import { document } from '../support/openapi';
import { checkWith, createAjv, requireSchema } from '../../src/schema/validation';
import { makeKey, makeOrganisation } from '../support/factories';
import { late, served } from '../support/gateway';
import { signIn } from '../settings/people';
import { raw } from './raw';

/* All problems are written by the same code, so they have the same members and headers wherever they come from. */

const LIMIT = 2;
const AWAY = { OIDC_ISSUER: 'http://127.0.0.1:9', OIDC_CLIENT_ID: 'x', OIDC_CLIENT_SECRET: 'x' };

const gateway = served({
  ...AWAY,
  PUBLIC_URL: 'http://127.0.0.1',
  RATE_LIMIT_PER_MINUTE: String(LIMIT),
  TRUST_PROXY: '1',
});
const organisation = late(() => makeOrganisation(gateway));

let addresses = 0;
/** Headers of a caller with an address that no other test uses. */
function fromElsewhere(): Record<string, string> {
  addresses += 1;
  return { 'x-forwarded-for': `203.0.113.${String(addresses)}` };
}

async function untilRefused(send: () => Promise<Response>): Promise<Response> {
  for (let at = 0; at < LIMIT; at += 1) expect((await send()).status).not.toBe(429);
  return send();
}

async function ofKey(path: string, init: RequestInit = {}): Promise<() => Promise<Response>> {
  const { key } = await makeKey(gateway, organisation);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...fromElsewhere() };
  return () => fetch(gateway.url + path, { ...init, headers });
}

const query = (text: string): RequestInit => ({ method: 'POST', body: JSON.stringify({ query: text }) });

/** Every way to get 429 or 503 with a working database. */
const WAYS: Record<string, () => Promise<Response>> = {
  'a key on REST': async () => untilRefused(await ofKey('/api/v1/me')),
  'a key on GraphQL': async () => untilRefused(await ofKey('/graphql', query('{ me { key { id } } }'))),
  'a query that costs more than remains': async () =>
    (await ofKey('/graphql', query('{ a: me { key { id } } b: me { key { id } } c: me { key { id } } }')))(),
  'failed authentication on REST': () => {
    const headers = fromElsewhere();
    return untilRefused(() => fetch(`${gateway.url}/api/v1/me`, { headers }));
  },
  'failed authentication on GraphQL': () => {
    const headers = { 'content-type': 'application/json', ...fromElsewhere() };
    return untilRefused(() => fetch(`${gateway.url}/graphql`, { ...query('{ me { key { id } } }'), headers }));
  },
  'invalid sign-in links, in a browser': () => signInOften('text/html'),
  'invalid sign-in links, in a program': () => signInOften('application/json'),
  'a signed-in user': async () => {
    const user = await signIn(gateway, organisation);
    const headers = { 'content-type': 'application/json', cookie: user.cookie, 'x-csrf-token': user.csrf };
    return untilRefused(() =>
      fetch(`${gateway.url}/settings/graphql`, { ...query('{ api_keys { has_more } }'), headers }),
    );
  },
  'an identity provider that is down': () => fetch(`${gateway.url}/settings/sign-in/oidc`, { redirect: 'manual' }),
};

function signInOften(accept: string): Promise<Response> {
  const headers = { accept, 'content-type': 'application/x-www-form-urlencoded', ...fromElsewhere() };
  return untilRefused(() => fetch(`${gateway.url}/settings/sign-in`, { method: 'POST', headers, body: 'link=none' }));
}

test.each(Object.keys(WAYS))('the answer has Retry-After: %s', async (way) => {
  const { status, headers } = await WAYS[way]!();
  expect([429, 503]).toContain(status);
  expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
});

describe('the Problem schema matches the answer to', () => {
  const ajv = createAjv().addSchema(document, 'openapi');
  const check = checkWith(requireSchema(ajv, 'openapi#/components/schemas/Problem'));

  test.each([
    ['an unknown REST route', '/api/v1/nothing', {}],
    ['an unknown page', '/nothing', {}],
    ['a method that a page does not allow', '/errors', { method: 'POST' }],
    ['an unknown settings path', '/settings/nothing', {}],
    ['headers that are too large', '/livez', { headers: { large: 'x'.repeat(20_000) } }],
    ['an invalid Transfer-Encoding', '/livez', { method: 'POST', headers: { 'transfer-encoding': 'none' } }],
  ])('%s', async (_title, path, init) => {
    const { status, headers, text } = await raw(gateway.url, path, init);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(headers['content-type']).toBe('application/problem+json');
    expect(check(JSON.parse(text))).toEqual({ faults: [], more: 0, isCut: false });
    expect(JSON.parse(text)).toMatchObject({ status, request_id: headers['x-request-id'] });
  });
});
