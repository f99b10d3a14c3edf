import { randomUUID } from 'node:crypto';
import { client, type Json } from '../../support/client';
import { makeKey, makeNorthwind } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { document } from '../../support/openapi';
import { raw, type RawAnswer, type RawRequest } from './raw';

/*
 * Proxies read the head of an answer into one buffer (nginx: 4 or 8 kB) and answer 502 if it does not fit, so no header of an answer grows
 * with the request.
 */

const gateway = served({ CORS_ORIGINS: '*', OPERATOR_TOKENS: `test=${'x'.repeat(40)}` });
const organisation = late(() => makeNorthwind(gateway, 40));
const made = late(async () => makeKey(gateway, organisation));

/** Bytes of a header's line, and of all of them. */
const [MOST, MOST_TOGETHER] = [1100, 4000];

type Target = RawRequest & { readonly path: string };

const LARGE = 12_000;
/** A text of some length, which repeats a part. */
const many = (part: string, length = LARGE): string => part.repeat(Math.ceil(length / part.length));

/** Headers that hinder no answer, several to a request: all of them are longer than a header of an answer may be. */
const BESIDE = [
  {
    origin: `https://${many('a', 2000)}`,
    'access-control-request-headers': many('x-a,', 2000),
    'x-request-id': many('a', 2000),
    traceparent: `00-${many('a', 2000)}-b7ad6b7169203331-01`,
    tracestate: many('a=b,', 2000),
    cookie: `scopegate_wanted=${many('a', 2000)}`,
  },
  {
    baggage: many('a=b,', 2000),
    'if-none-match': many('"a",', 2000),
    'accept-language': many('a,', 2000),
    'x-forwarded-for': many('10.0.0.1,', 2000),
    'x-forwarded-host': many('a', 2000),
    referer: `https://${many('a', 2000)}`,
    'user-agent': many('a', 2000),
  },
];

/** Headers that decide which answer there is. */
const DECIDING = {
  host: many('a'),
  authorization: `Bearer ${many('a')}`,
  accept: many('text/a,'),
  'accept-encoding': many('a,'),
  'idempotency-key': many('a'),
  'if-match': many('"a",'),
  'content-type': many('a'),
  'last-event-id': many('a'),
  'content-encoding': many('a'),
  'mcp-protocol-version': many('a'),
  'access-control-request-method': many('A'),
};

/** What a request can have a lot of. */
const PARTS: Record<string, (to: Target) => Target> = {
  'its query': (to) => ({
    ...to,
    path: `${to.path}${to.path.includes('?') ? '&' : '?'}${many(`id=${randomUUID()}&`)}`,
  }),
  'its path': (to) => ({ ...to, path: to.path.replace(/(?=\?|$)/, `/${many('a')}`) }),
  ...Object.fromEntries(
    [...BESIDE, ...Object.entries(DECIDING).map((entry) => Object.fromEntries([entry]))].map((headers) => [
      `its headers ${Object.keys(headers).join(', ')}`,
      (to: Target) => ({ ...to, headers: { ...to.headers, ...headers } }),
    ]),
  ),
};

const PAGES = [
  '/',
  '/livez',
  '/metrics',
  '/graphql',
  '/graphql/schema.graphql',
  '/mcp',
  '/api/v1/docs',
  '/errors',
  '/favicon.ico',
];
const SETTINGS = ['/settings', '/settings/keys', '/settings/requests', '/settings/sign-in', '/settings/graphql'];
const ROUTES = Object.keys(document.paths).map((path) => `/api/v1${path.replaceAll(/\{\w+\}/g, randomUUID())}`);
const PATHS = [
  ...PAGES,
  ...SETTINGS,
  ...ROUTES,
  '/api/v1/nothing',
  '/operator/v1/organisations',
  '/graphql?query={__typename}',
];

/** Bytes of each header, by its name. */
function linesOf({ headers }: RawAnswer): [name: string, bytes: number][] {
  return Object.entries(headers).map(([name, value]) => {
    const values = [value].flat();
    return [name, values.reduce((sum, value) => sum + Buffer.byteLength(`${name}: ${value ?? ''}\r\n`), 0)];
  });
}

/** One route of each kind; what decides which answer there is, is read alike on all. */
const ROUTES_ALIKE = ROUTES.filter((path) => !/\/(products|requests)(\/|$)/.test(path));

test.each(Object.entries(PARTS))('no header of an answer grows with %s', async (title, enlarge) => {
  const authorization = `Bearer ${made.key}`;
  const isDeciding = title.slice('its headers '.length) in DECIDING;
  for (const path of PATHS.filter((one) => !isDeciding || !ROUTES_ALIKE.includes(one))) {
    const targets = ['GET', 'OPTIONS', 'POST'].map((method) => {
      const headers = { 'access-control-request-method': 'POST', origin: 'https://a.example', authorization };
      return enlarge({ path, method, headers });
    });
    const heads = await Promise.all(
      targets.map(async ({ path: longer, ...request }) => raw(gateway.url, longer, request)),
    );
    for (const lines of heads.map(linesOf)) {
      expect([path, lines.filter(([, bytes]) => bytes > MOST)]).toEqual([path, []]);
      expect(lines.reduce((sum, [, bytes]) => sum + bytes, 0)).toBeLessThan(MOST_TOGETHER);
    }
  }
});

test('a list by 100 ids has a short head and no Link, and goes on by the cursor in its body', async () => {
  const caller = client(gateway, made.key);
  const rows: Json[] = (await caller.get('/orders', { limit: 40 })).body.data;
  const id = [...rows.map((row) => row.id as string), ...Array.from({ length: 60 }, () => randomUUID())];
  const first = await caller.get('/orders', { id, limit: 30 });
  expect([first.status, first.body.has_more, first.headers.get('link')]).toEqual([200, true, null]);
  const rest = await caller.get('/orders', { id, limit: 30, cursor: first.body.next_cursor });
  expect(rest.body).toMatchObject({ has_more: false, next_cursor: null });
  expect([...first.body.data, ...rest.body.data].map((row: Json) => row.id).sort()).toEqual(
    rows.map((row) => row.id).sort(),
  );
});

test('a Link has at most 1 kB, and is there up to that', async () => {
  const caller = client(gateway, made.key);
  const ids: string[] = (await caller.get('/orders', { limit: 40 })).body.data.map((row: Json) => row.id);
  for (let many = 10; many <= 30; many += 1) {
    const id = ids.slice(0, many);
    const { headers, body } = await caller.get('/orders', { id, limit: 1 });
    const query = new URLSearchParams([...id.map((one) => ['id', one]), ['limit', '1'], ['cursor', body.next_cursor]]);
    const link = `</api/v1/orders?${query.toString()}>; rel="next"`;
    expect([many, headers.get('link')]).toEqual([many, link.length <= 1024 ? link : null]);
  }
});
