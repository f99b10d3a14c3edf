import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { operator, SECRET, TOKENS } from '../../admin/operator/operator';
import { signIn } from '../../admin/settings/people';
import { makeKey, makeNorthwind, makeOrganisation } from '../../support/factories';
import { late, served } from '../../support/gateway';

const gateway = served({ ...TOKENS, METRICS: 'public', INTROSPECTION: 'public' });
const organisation = late(() => makeNorthwind(gateway, 60));
const key = late(() => makeKey(gateway, organisation));

interface Call {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: object;
}
interface Got {
  readonly status: number | undefined;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly bytes: Buffer;
}

/** A call with node:http, which sends no header of its own and decodes nothing. */
function call(path: string, { method = 'GET', headers = {}, body }: Call = {}): Promise<Got> {
  const text = body && JSON.stringify(body);
  const json = text === undefined ? {} : { 'content-type': 'application/json' };
  const options = { method, agent: false, headers: { authorization: `Bearer ${key.key}`, ...json, ...headers } };
  return new Promise((resolve, reject) => {
    const sent = request(gateway.url + path, options, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part)).on('error', reject);
      answer.on('end', () => {
        resolve({ status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(parts) });
      });
    });
    sent.on('error', reject).end(text);
  });
}

const accepting = (coding: string, { headers, ...rest }: Call = {}): Call => ({
  ...rest,
  headers: { 'accept-encoding': coding, ...headers },
});
const LIST = '/api/v1/orders?limit=50&include=customer';
const QUERY = { query: '{ orders(limit: 50) { data { id number status total_minor customer { name } } } }' };
const MCP = {
  method: 'POST',
  headers: { accept: 'application/json', 'mcp-protocol-version': '2025-06-18' },
  body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
};

test.each<[string, string, Call]>([
  ['a list', LIST, {}],
  ['GraphQL', '/graphql', { method: 'POST', body: QUERY }],
  ['an assistant’s call', '/mcp', MCP],
  ['the schema', '/graphql/schema.graphql', {}],
  ['the metrics', '/metrics', {}],
])('the answer of %s is sent with gzip if the caller accepts it, else as it is', async (_title, path, one) => {
  const plain = await call(path, one);
  const zipped = await call(path, accepting('gzip, deflate, br', one));
  expect(plain).toMatchObject({ status: 200, headers: { 'content-length': String(plain.bytes.length) } });
  expect(plain.headers).not.toHaveProperty('content-encoding');
  expect(zipped).toMatchObject({ status: 200, headers: { 'content-encoding': 'gzip' } });
  expect(zipped.headers['content-length']).toBe(String(zipped.bytes.length));
  // whether compressed or not, since a cache must know before
  for (const { headers } of [plain, zipped]) expect(headers.vary).toContain('Accept-Encoding');
  if (path !== '/metrics') expect(gunzipSync(zipped.bytes).equals(plain.bytes)).toBe(true);
  expect(zipped.bytes.length).toBeLessThan(plain.bytes.length / 3);
});

test.each(['identity', 'br', 'gzip;q=0', '', `gzip, ${'x'.repeat(2000)}`])(
  'with Accept-Encoding: %.20s an answer is sent as it is',
  async (coding) => {
    expect((await call(LIST, accepting(coding))).headers).not.toHaveProperty('content-encoding');
  },
);

test('a small answer is sent as it is', async () => {
  expect((await call('/api/v1/me', accepting('gzip'))).headers).not.toHaveProperty('content-encoding');
});

test('the answer to HEAD has the headers of GET', async () => {
  const [get, head] = await Promise.all(['GET', 'HEAD'].map((method) => call(LIST, accepting('gzip', { method }))));
  const { 'content-encoding': coding, 'content-length': length, vary, 'content-type': type } = get!.headers;
  expect(head!.headers).toMatchObject({
    'content-encoding': coding,
    'content-length': length,
    vary,
    'content-type': type,
  });
  expect(coding).toBe('gzip');
  expect(head!.bytes).toHaveLength(0);
});

test('an object with an ETag is sent as it is, so that its tag is the same for every caller', async () => {
  const description = 'lorem ipsum '.repeat(400);
  const body = { products: [{ sku: 'LONG', name: 'Long', description }] };
  expect((await call('/api/v1/products/bulk', { method: 'POST', body })).status).toBe(200);
  const { data } = JSON.parse((await call('/api/v1/products?sku=LONG')).bytes.toString()) as { data: [{ id: string }] };
  const path = `/api/v1/products/${data[0].id}`;
  const [plain, asked] = [await call(path), await call(path, accepting('gzip'))];
  expect(asked.bytes.length).toBeGreaterThan(4000);
  expect(asked.headers).not.toHaveProperty('content-encoding');
  expect(asked.headers.etag).toBe(plain.headers.etag);
  const headers = { 'if-none-match': String(asked.headers.etag) };
  expect((await call(path, accepting('gzip', { headers }))).status).toBe(304);
});

describe('what a cookie or a secret is in is never compressed, since its size would tell the secret', () => {
  test('the settings pages and their calls', async () => {
    const { cookie, csrf } = await signIn(gateway, organisation);
    const headers = { cookie, accept: 'text/html' };
    const page = await call('/settings/keys', accepting('gzip', { headers }));
    const query = '{ __schema { types { name description fields { name description } } } }';
    const session = { cookie, 'x-csrf-token': csrf };
    const answer = await call(
      '/settings/graphql',
      accepting('gzip', { method: 'POST', headers: session, body: { query } }),
    );
    for (const { bytes, headers: got, status } of [page, answer]) {
      expect([status, bytes.length > 4000]).toEqual([200, true]);
      expect(got).not.toHaveProperty('content-encoding');
    }
  });

  test('the answers of the operator API', async () => {
    for (let at = 0; at < 20; at += 1) await makeOrganisation(gateway);
    expect((await operator(gateway).get('/organisations?limit=20')).status).toBe(200);
    const headers = { authorization: `Bearer ${SECRET}` };
    const query = '{ organisations(limit: 20) { data { id name plan state created_at } } }';
    const list = await call('/operator/v1/organisations?limit=20', accepting('gzip', { headers }));
    const graphql = await call('/operator/graphql', accepting('gzip', { method: 'POST', headers, body: { query } }));
    for (const { bytes, headers: got, status } of [list, graphql]) {
      expect([status, bytes.length > 2000]).toEqual([200, true]);
      expect(got).not.toHaveProperty('content-encoding');
    }
  });
});
