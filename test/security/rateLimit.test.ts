import { randomUUID } from 'node:crypto';
import { isObjectType } from 'graphql';
import { DEFAULT_KEY_PREFIX, generateKey } from '../../src/auth/keys';
import { publishedSchemas } from '../../src/gateway/schemas';
import { type Answer, type Client, client } from '../support/client';
import { eventually } from '../api/http/eventually';
import { callerOf, makeKey } from '../support/factories';
import { late, served, type TestGateway } from '../support/gateway';
import { ALL_FACES, operations } from '../support/operations';
import { makeStocked } from '../support/fixtures/contract';

const LIMIT = 3;
const QUERY = '{ me { key { id } } }';
const me = operations.find(({ name }) => name === 'me')!;

const roomy = served();
const tight = served({ RATE_LIMIT_PER_MINUTE: String(LIMIT), TRUST_PROXY: '1' });
const organisation = late(() => makeStocked(roomy));

async function freshCaller(gateway: TestGateway): Promise<Client> {
  return client(gateway, (await makeKey(roomy, organisation)).key);
}

function remaining({ headers }: Answer): number {
  return Number(headers.get('x-ratelimit-remaining'));
}

describe('over the limit', () => {
  test.each(ALL_FACES)('$name returns status 429 with the time to wait', async (face) => {
    const caller = await freshCaller(tight);
    for (let at = 0; at < LIMIT; at += 1) expect((await face.call(caller, me, {})).status).toBe(200);
    const before = Math.floor(Date.now() / 1000);
    const refused = await face.call(caller, me, {});
    const after = Math.ceil(Date.now() / 1000);
    expect(refused.status).toBe(429);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(face.errorOf(refused)).toMatchObject({ code: 'rate_limited', status: 429, retry_after: seconds });
    expect(refused.headers.get('ratelimit-policy')).toBe(`"default";q=${String(LIMIT)};w=60`);
    const [, wait] = /^"default";r=0;t=(\d+)$/.exec(refused.headers.get('ratelimit') ?? '') ?? [];
    expect(Math.abs(Number(wait) - seconds)).toBeLessThanOrEqual(1);
    expect(refused.headers.get('x-ratelimit-limit')).toBe(String(LIMIT));
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
    const reset = Number(refused.headers.get('x-ratelimit-reset'));
    expect(reset - seconds).toBeGreaterThanOrEqual(before - 1);
    expect(reset - seconds).toBeLessThanOrEqual(after + 1);
  });

  test('a GraphQL request that costs more than remains does not run at all', async () => {
    const caller = await freshCaller(tight);
    const text = randomUUID();
    const document =
      'mutation($text: String!) { a: open_request(text: $text) { id } b: open_request(text: $text) { id } }';
    await caller.graphql(QUERY);
    await caller.graphql(QUERY);
    const refused = await caller.graphql(document, { text });
    expect(refused.status).toBe(429);
    expect(refused.body.data).toBeUndefined();
    expect(refused.body.errors[0].extensions).toMatchObject({ code: 'rate_limited', status: 429 });
    expect(refused.headers.get('retry-after')).toBe(String(refused.body.errors[0].extensions.retry_after));
    const found = await (await freshCaller(roomy)).get('/requests', { q: text });
    expect(found.body.data).toEqual([]);
  });
});

type Send = (caller: Client) => Promise<Answer>;

/** Requests with a valid key, and their statuses. */
const COUNTED: readonly (readonly [number, string, Send])[] = [
  [200, 'an answer', (caller) => caller.get('/products')],
  [201, 'a write', (caller) => caller.post('/requests', { text: 'Hello' })],
  [400, 'a bad parameter', (caller) => caller.get('/products', { limit: 0 })],
  [404, 'an unknown object', (caller) => caller.get(`/quotes/${randomUUID()}`)],
  [422, 'a bad body', (caller) => caller.post('/requests', {})],
  [200, 'GraphQL', (caller) => caller.graphql(QUERY)],
  [400, 'malformed GraphQL', (caller) => caller.graphql('{')],
];

describe('a request with a key', () => {
  test.each(COUNTED)(
    'that gets %i (%s) counts, and the answer has the remaining limit',
    async (status, _title, send) => {
      const caller = await freshCaller(roomy);
      const before = remaining(await caller.get('/me'));
      const answer = await send(caller);
      expect(answer.status).toBe(status);
      expect(remaining(answer)).toBe(before - 1);
      expect(answer.headers.get('ratelimit')).toMatch(/^"default";r=\d+;t=\d+, "organisation";r=\d+;t=\d+$/);
      expect(remaining(await caller.get('/me'))).toBe(before - 2);
    },
  );

  test('that lacks the scope or the plan counts, and the answer has the remaining limit', async () => {
    const made = await makeKey(roomy, organisation, { scopes: [] });
    const caller = client(roomy, made.key);
    expect(remaining(await caller.get('/products'))).toBe(999_999);
    expect(remaining(await caller.get('/products'))).toBe(999_998);
    const starter = await makeStocked(roomy, { plan: 'starter' });
    const closed = await callerOf(roomy, starter);
    expect(remaining(await closed.get('/me'))).toBe(999_999);
    expect(remaining(await closed.graphql(QUERY))).toBe(999_998);
  });

  test.each([
    [404, 'an unknown route', (caller) => caller.get('/nothing')],
    [405, 'another method', (caller) => caller.send('DELETE', '/products')],
  ] satisfies [number, string, Send][])('that gets %i (%s) does not count', async (status, _title, send) => {
    const caller = await freshCaller(roomy);
    const before = remaining(await caller.get('/me'));
    const answer = await send(caller);
    expect(answer.status).toBe(status);
    expect(answer.headers.has('ratelimit')).toBe(false);
    expect(remaining(await caller.get('/me'))).toBe(before - 1);
  });
});

describe.each(ALL_FACES)('a bulk call in $name', (face) => {
  const bulk = operations.find(({ name }) => name === 'upsert_products')!;
  const products = (length: number) => Array.from({ length }, (_none, at) => ({ sku: `P${String(at)}`, name: 'A' }));

  test.each([
    [100, 1],
    [101, 2],
    [1000, 10],
  ])('of %i elements costs %i points, and the answer has what remains', async (elements, points) => {
    const caller = await freshCaller(roomy);
    const before = remaining(await caller.get('/me'));
    const answer = await face.call(caller, bulk, { products: products(elements), dry_run: true });
    expect(answer.status).toBe(200);
    expect(remaining(answer)).toBe(before - points);
    expect(remaining(await caller.get('/me'))).toBe(before - points - 1);
  });

  test('for which there are not enough points is 429 and stores nothing', async () => {
    const caller = await freshCaller(tight);
    const sku = randomUUID();
    const refused = await face.call(caller, bulk, { products: [{ sku, name: 'A' }, ...products(400)] });
    expect(refused.status).toBe(429);
    expect(face.errorOf(refused)).toMatchObject({ code: 'rate_limited', status: 429 });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
    const found = await (await freshCaller(roomy)).get('/products', { sku });
    expect(found.body.data).toEqual([]);
  });

  test('that is replayed costs one', async () => {
    const caller = await freshCaller(roomy);
    const headers = { 'idempotency-key': randomUUID() };
    const args = { products: products(200) };
    const before = remaining(await face.call(caller, bulk, args, headers));
    const again = await face.call(caller, bulk, args, headers);
    expect(again.status).toBe(200);
    expect(remaining(again)).toBe(before - 1);
  });
});

test('a bulk call beside __typename is 429 too, and not beside a write that ran, since 429 means that nothing was stored', async () => {
  const query = (more: string) =>
    `mutation ($all: [ProductUpsert!]!) { ${more} upsert_products(products: $all, dry_run: true) { failed } }`;
  const all = Array.from({ length: 401 }, (_none, at) => ({ sku: `P${String(at)}`, name: 'A' }));
  const statusOf = async (more: string) => (await (await freshCaller(tight)).graphql(query(more), { all })).status;
  expect(await statusOf('type: __typename')).toBe(429);
  expect(await statusOf('first: upsert_products(products: [{sku: "A", name: "A"}]) { failed }')).toBe(200);
});

test('fields of Mutation are objects that may be null, by which such a request is told from one that ran', () => {
  const fields = Object.values(publishedSchemas().graphql.getMutationType()!.getFields());
  expect(fields.filter(({ type }) => !isObjectType(type)).map(({ name }) => name)).toEqual([]);
});

describe('failed authentication', () => {
  const from = (address: string) => ({ 'x-forwarded-for': address });

  test('is limited by address, over both APIs, while keys from that address keep working', async () => {
    const [caller, nobody] = [await freshCaller(tight), client(tight)];
    const address = from('192.0.2.1');
    expect((await nobody.get('/me', {}, address)).status).toBe(401);
    expect((await nobody.graphql(QUERY, {}, address)).status).toBe(401);
    expect((await nobody.get('/me', {}, { ...address, authorization: 'Bearer made-up' })).status).toBe(401);
    for (const refused of [await fetchMe(address), await nobody.graphql(QUERY, {}, address)]) {
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await caller.get('/me', {}, address)).status).toBe(200);
    expect((await nobody.get('/me', {}, from('192.0.2.2'))).status).toBe(401);
  });

  test('counts the addresses of an IPv6 /64 network as one', async () => {
    const statuses: number[] = [];
    for (const host of ['::1', '::2', '::3', '::4']) statuses.push((await fetchMe(from(`2001:db8:0:1${host}`))).status);
    expect(statuses).toEqual([401, 401, 401, 429]);
    expect((await fetchMe(from('2001:db8:0:2::1'))).status).toBe(401);
  });

  test('at most 500 lookups of made-up keys of an address wait at once; others are answered, and so are known keys from there', async () => {
    const [known, fresh] = [await makeKey(roomy, organisation), await makeKey(roomy, organisation)];
    const [address, elsewhere] = [from('192.0.2.3'), from('192.0.2.4')];
    const status = async (key: string, headers: Record<string, string>) =>
      (await client(tight, key).get('/me', {}, headers)).status;
    expect(await status(known.key, address)).toBe(200);
    const { apiKeys } = tight.control;
    const find = apiKeys.find;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const spy = jest.spyOn(apiKeys, 'find').mockImplementation(async (id) => {
      if (![known.id, fresh.id].includes(id)) await held;
      return find(id);
    });
    const refused: Response[] = [];
    const all = Array.from({ length: 600 }, async () => {
      const answer = await fetchMe({ ...address, authorization: `Bearer ${generateKey(DEFAULT_KEY_PREFIX, '').key}` });
      if (answer.status === 503) refused.push(answer);
    });
    await eventually(() => refused.length === 100);
    expect(refused[0]!.headers.get('retry-after')).toBe('2');
    expect([await status(known.key, address), await status(fresh.key, elsewhere)]).toEqual([200, 200]);
    expect(await status(fresh.key, address)).toBe(200);
    release();
    await Promise.all(all);
    spy.mockRestore();
    expect(refused).toHaveLength(100);
  });

  /** Uses fetch, since the document has rate-limit headers only for requests with a key. */
  function fetchMe(headers: Record<string, string>): Promise<Response> {
    return fetch(`${tight.url}/api/v1/me`, { headers });
  }
});
