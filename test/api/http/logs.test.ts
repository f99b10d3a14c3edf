import { mongo } from 'mongoose';
import { DEFAULT_KEY_PREFIX, generateKey } from '../../../src/auth/keys';
import { allScopes } from '../../../src/auth/scopes';
import { AppError } from '../../../src/errors';
import { IDS } from '../../support/fixtures/contract';
import { client } from '../../support/client';
import { makeKey, makeOrganisation } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { argumentsOf, CALLS } from '../../support/operations';
import { eventually } from './eventually';
import { raw, untilReady } from './raw';

/* Log lines of requests, and the ids that lead to them. */

const gateway = served({ LOG_LEVEL: 'trace' });
const organisation = late(() => makeOrganisation(gateway));
const key = late(() => makeKey(gateway, organisation, { scopes: allScopes() }));
const caller = late(() => Promise.resolve(client(gateway, key.key)));

/** The access log lines of a request, once there is one. */
async function linesOf(requestId: string): Promise<Record<string, unknown>[]> {
  const found = () => gateway.logs.filter((line) => line.request_id === requestId && line.method !== undefined);
  await eventually(() => found().length > 0);
  return found();
}

describe('a request has one log line with', () => {
  const QUERY = '{ a: me { key { id } } products { has_more } }';
  test.each<[string, () => Promise<{ headers: Headers }>, Record<string, unknown>]>([
    [
      'its operation and status',
      () => caller.get('/products', { limit: 1 }),
      { method: 'GET', path: '/api/v1/products', operation: 'products', status: 200 },
    ],
    [
      'its error code',
      () => caller.post('/requests', {}),
      { method: 'POST', path: '/api/v1/requests', operation: 'open_request', status: 422, code: 'validation_failed' },
    ],
    [
      'the root fields of a GraphQL request',
      () => caller.graphql(QUERY),
      { method: 'POST', path: '/graphql', operation: 'me products', status: 200 },
    ],
    [
      'the error code of a rejected GraphQL request',
      () => caller.graphql('{ nothing }'),
      { method: 'POST', path: '/graphql', status: 400, code: 'invalid_request' },
    ],
    [
      'the error code of a failed field',
      () => caller.graphql('{ products(limit: 0) { has_more } }'),
      { method: 'POST', path: '/graphql', operation: 'products', status: 200, code: 'invalid_request' },
    ],
  ])('%s', async (_title, send, expected) => {
    const { headers } = await send();
    const lines = await linesOf(headers.get('x-request-id')!);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      ...expected,
      key_id: key.id,
      organisation_id: organisation.id,
      address: '127.0.0.1',
      ms: expect.any(Number),
    });
  });

  test('no key id without a key', async () => {
    const { headers } = await client(gateway).get('/me');
    const [line] = await linesOf(headers.get('x-request-id')!);
    expect(line).toMatchObject({ status: 401, code: 'unauthenticated' });
    expect(line).not.toHaveProperty('key_id');
  });

  test('499 if the caller disconnects before the answer', async () => {
    const control = new AbortController();
    const id = 'went-away';
    let release: (key: null) => void = () => undefined;
    const find = jest.spyOn(gateway.control.apiKeys, 'find').mockImplementation(() => {
      control.abort();
      return new Promise((resolve) => (release = resolve));
    });
    const headers = { authorization: `Bearer ${key.key}`, 'x-request-id': id };
    await expect(fetch(`${gateway.url}/api/v1/me`, { headers, signal: control.signal })).rejects.toThrow('aborted');
    const [line] = await linesOf(id);
    release(null);
    find.mockRestore();
    expect(line).toMatchObject({ status: 499 });
  });
});

describe('the log line of a 401', () => {
  const typo = (text: string): string => `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`;
  type Sent = Promise<{ readonly key?: string; readonly id?: string }>;
  /** A key with a change made to it. */
  const made = async (change: (id: string) => unknown, input?: Parameters<typeof makeKey>[2]): Sent => {
    const one = await makeKey(gateway, organisation, input);
    await change(one.id);
    return one;
  };
  const keyIs = (members: object) => (id: string) =>
    gateway.databases.control.collection<{ _id: string }>('api_keys').updateOne({ _id: id }, { $set: members });
  test.each<[string, () => Sent]>([
    ['missing', () => Promise.resolve({})],
    ['malformed', () => Promise.resolve({ key: 'let-me-in' })],
    ['checksum', () => Promise.resolve({ key: typo(key.key) })],
    ['unknown', () => Promise.resolve(generateKey(DEFAULT_KEY_PREFIX, ''))],
    ['wrong_secret', () => made(keyIs({ hash: generateKey(DEFAULT_KEY_PREFIX, '').hash }))],
    ['expired', () => made(() => undefined, { expiresAt: new Date(Date.now() - 60_000) })],
    ['revoked', () => made((id) => gateway.control.apiKeys.revoke(id))],
    ['address', () => made(keyIs({ allowed_ranges: ['192.0.2.0/24'] }))],
  ])('gives the reason and the key: %s', async (reason, prepare) => {
    const { key: token, id } = await prepare();
    for (const path of ['/api/v1/me', '/graphql?query={me{key{id}}}']) {
      const authorization = token !== undefined && { authorization: `Bearer ${token}` };
      const headers = { ...authorization, 'apollo-require-preflight': '1' };
      const answer = await raw(gateway.url, path, { headers });
      const [line] = await linesOf(String(answer.headers['x-request-id']));
      expect(line).toMatchObject({ status: 401, code: 'unauthenticated', reason });
      expect(line!.key_id).toBe(id);
      expect(answer.text + JSON.stringify(answer.headers)).not.toContain(reason === 'missing' ? 'reason' : reason);
      if (token !== undefined) expect(JSON.stringify(gateway.logs)).not.toContain(token.slice(-49));
    }
  });
});

describe('the log line of a 503', () => {
  afterEach(() => jest.restoreAllMocks());

  /** The only line about a request, of any level and kind. */
  async function onlyLineOf(requestId: string | null): Promise<Record<string, unknown>> {
    const [line] = await linesOf(requestId!);
    expect(gateway.logs.filter(({ request_id: id }) => id === requestId)).toEqual([line]);
    expect(JSON.stringify(line)).not.toContain('stack');
    return line!;
  }

  const failKeys = (error: Error): void => {
    jest.spyOn(gateway.control.apiKeys, 'find').mockRejectedValue(error);
  };

  test.each<[string, Error, Record<string, unknown>]>([
    ['the database does not respond', new mongo.MongoNetworkError('lost'), { reason: 'away' }],
    [
      'the database does not respond',
      new AppError('unavailable', 'Away.', { reason: 'away' }),
      { reason: 'away', detail: 'Away.' },
    ],
    ['too much is in progress', new AppError('unavailable', 'Too much.', { reason: 'shed' }), { reason: 'shed' }],
    ['the gateway drains', new AppError('unavailable', 'Drains.', { reason: 'draining' }), { reason: 'draining' }],
  ])('is the only one, and says that %s', async (_title, error, expected) => {
    failKeys(error);
    for (const { headers } of [await caller.get('/me'), await caller.graphql('{ me { key { id } } }')]) {
      const line = await onlyLineOf(headers.get('x-request-id'));
      expect(line).toMatchObject({ level: 40, status: 503, code: 'unavailable', ...expected });
      expect(line.error).toEqual(
        error instanceof AppError ? undefined : { type: 'MongoNetworkError', message: 'lost' },
      );
    }
  });

  test('gives the reason on a settings page, too', async () => {
    jest.spyOn(gateway.control.sessions, 'find').mockRejectedValue(new mongo.MongoNetworkError('lost'));
    const { status, headers } = await fetch(`${gateway.url}/settings/integrations`, {
      headers: { cookie: `scopegate_session=${'x'.repeat(43)}` },
    });
    expect(status).toBe(503);
    expect(await onlyLineOf(headers.get('x-request-id'))).toMatchObject({
      level: 40,
      reason: 'away',
      code: 'unavailable',
    });
  });

  test('is not a warning if a move refuses a write, in any API', async () => {
    const moved = await makeOrganisation(gateway);
    const mover = client(gateway, (await makeKey(gateway, moved, { scopes: allScopes(), mcp: 'write' })).key);
    const [at, products] = [new Date(), [{ sku: 'A', name: 'A' }]];
    await gateway.databases.control
      .collection<{ _id: string }>('organisations')
      .updateOne({ _id: moved.id }, { $set: { move: { to: 'eu', mover: 'x', begun_at: at, seen_at: at } } });
    const answers = [
      await mover.post('/products/bulk', { products }),
      await mover.graphql(
        'mutation($products: [ProductUpsert!]!) { upsert_products(products: $products) { created } }',
        { products },
      ),
      await mover.mcp('tools/call', { name: 'upsert_products', arguments: { products } }),
    ];
    for (const { headers } of answers) {
      const line = await onlyLineOf(headers.get('x-request-id'));
      expect(line).toMatchObject({ level: 30, code: 'unavailable', reason: 'moving' });
    }
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(text).toMatch(/^scopegate_http_requests_unavailable_total\{reason="moving"\} 2$/m);
  });
});

test.each(['/livez', '/readyz', '/metrics'])('%s is logged at debug', async (path) => {
  if (path === '/readyz') await untilReady(gateway);
  const answer = await raw(gateway.url, path, {});
  const [line] = await linesOf(String(answer.headers['x-request-id']));
  expect(line).toMatchObject({ level: 20, path, status: 200 });
});

// test/security/attacks/canaries.slow.test.ts sends keys in every place of a request
test('a key in a path or an error message is not logged', async () => {
  const find = jest.spyOn(gateway.control.apiKeys, 'find').mockRejectedValue(new Error(`no such key: ${key.key}`));
  const lost = await raw(gateway.url, `/api/v1/${encodeURIComponent(key.key)}?key=${key.key}`, {});
  const [line] = await linesOf(String(lost.headers['x-request-id']));
  expect(line).toMatchObject({ path: '/api/v1/[key]' });
  const { headers } = await raw(gateway.url, '/api/v1/me', { headers: { authorization: `Bearer ${key.key}` } });
  await linesOf(String(headers['x-request-id']));
  find.mockRestore();
  expect(JSON.stringify(gateway.logs)).toContain('no such key: [key]');
  expect(JSON.stringify(gateway.logs)).not.toContain(key.key.slice(key.key.lastIndexOf('_') + 1));
});

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const SANE = ['a', 'req-1', '01JB3Z6V8Y', '7f3c1a52-6f0e-4f3c-9b0a-0d9a6f6f2b11', 'a.b:c=d+e/f@g_h', 'x'.repeat(128)];
const INSANE = [
  ['an empty id', ''],
  ['an id of 129 characters', 'x'.repeat(129)],
  ['an id with a space', 'spaced out id'],
  ['markup', '<b>markup</b>'],
  ['quotes', 'quo"ted'],
  ['bytes above ASCII', 'café-café'],
  ['an API key', generateKey('svc_live_', '').key],
] as const;

const PATHS = ['/api/v1/me', '/api/v1/nothing', '/graphql?query={', '/livez', '/', '/nothing'];

describe("a caller's own X-Request-Id", () => {
  test.each(SANE)('%s is kept', async (id) => {
    for (const path of PATHS) {
      const { headers } = await raw(gateway.url, path, { headers: { 'x-request-id': id } });
      expect({ path, id: headers['x-request-id'] }).toEqual({ path, id });
    }
  });

  test.each(INSANE)('%s is replaced by a UUID', async (_title, id) => {
    for (const path of PATHS) {
      const { headers, text } = await raw(gateway.url, path, { headers: { 'x-request-id': id } });
      expect(headers['x-request-id']).toMatch(UUID);
      if (id !== '') expect(text).not.toContain(id);
    }
  });

  test('is generated if missing, and unique', async () => {
    const ids = await Promise.all([1, 2, 3].map(async () => (await caller.get('/me')).headers.get('x-request-id')));
    for (const id of ids) expect(id).toMatch(UUID);
    expect(new Set(ids).size).toBe(3);
  });
});

/** A read and a write in each API, whose errors are made alike for all operations. */
const FAILING = CALLS.filter(({ operation: { name } }) => ['quote', 'update_product'].includes(name));

test.each(FAILING)(
  'the request id of an error of $operation.name over $face.name is in its body, header and log line',
  async ({ operation, face }) => {
    const id = `${operation.name}-${face.name}`;
    const answer = await face.call(client(gateway), operation, argumentsOf(operation, IDS), { 'x-request-id': id });
    expect(answer.headers.get('x-request-id')).toBe(id);
    expect(face.errorOf(answer).request_id).toBe(id);
    const line = await eventually(() => gateway.logs.find((log) => log.request_id === id));
    expect(line).toMatchObject({ status: 401, code: 'unauthenticated' });
  },
);
