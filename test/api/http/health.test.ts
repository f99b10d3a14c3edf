import { mongo } from 'mongoose';
import { resourceOf } from '../../../src/resources';
import { type Answer, client } from '../../support/client';
import { isSharded } from '../../support/differences';
import { callerOf, makeKey, makeNorthwind, makeOrganisation, northwind } from '../../support/factories';
import { late, served, startGateway, type TestGateway } from '../../support/gateway';
import { openTunnel } from './tunnel';
import { eventually } from './eventually';
import { raw, type RawAnswer, type RawRequest, untilReady } from './raw';

const gateway = served();

/** An answer with 200, which a busy machine may delay: the database has 1.5 s to respond. */
const answerOf = (path: string, more: RawRequest = {}): Promise<RawAnswer> =>
  eventually(async () => {
    const answer = await raw(gateway.url, path, more);
    return answer.status === 200 ? answer : undefined;
  });

describe('a running gateway', () => {
  test.each(['/livez', '/readyz'])('returns 200 for GET and HEAD %s without a key', async (path) => {
    const text: unknown = expect.stringContaining('"ok"');
    expect(await answerOf(path)).toMatchObject({ text });
    expect(await answerOf(path, { method: 'HEAD' })).toMatchObject({ text: '' });
  });

  test('lists its readiness checks', async () => {
    const { text } = await answerOf('/readyz');
    const shards = (await isSharded(gateway.databases.control.getClient())) && { shards: expect.anything() as unknown };
    expect(JSON.parse(text)).toEqual({ status: 'ok', checks: { database: 'ok', limiter: 'ok', ...shards } });
  });
});

/** Usual ones, and one that would end every command. */
const URI_OPTIONS = { minPoolSize: 10, w: 1, journal: false, retryWrites: false, maxConnecting: 1, socketTimeoutMS: 1 };

test('options of the URI spoil neither the few connections of checks and streams, nor how writes are acknowledged', async () => {
  const uri = new URL(process.env.TEST_MONGODB_URI!);
  for (const [name, value] of Object.entries({ ...URI_OPTIONS, compressors: 'zlib', appName: 'sales' }))
    uri.searchParams.set(name, String(value));
  await using started = await startGateway({ MONGODB_URI: uri.href });
  await untilReady(started);
  expect(await (await started.databases.streams()).db('admin').command({ ping: 1 })).toMatchObject({ ok: 1 });
  const { minPoolSize, writeConcern } = started.databases.control.getClient().options;
  expect([minPoolSize, writeConcern]).toEqual([10, expect.objectContaining({ w: 'majority', j: true })]);
});

describe('while the database is down', () => {
  test('the gateway is live but not ready, returns 503 with Retry-After in both APIs, and recovers', async () => {
    await using tunnel = await openTunnel();
    await using away = await startGateway({ MONGODB_URI: tunnel.uri });
    const { key } = await makeKey(away, await makeOrganisation(away));
    const caller = client(away, key);
    expect((await caller.get('/products')).status).toBe(200);
    await tunnel.cut();
    expect((await raw(away.url, '/livez', {})).status).toBe(200);
    const ready = await raw(away.url, '/readyz', {});
    expect(ready.status).toBe(503);
    expect(JSON.parse(ready.text)).toMatchObject({ status: 'unavailable', checks: { database: 'unavailable' } });
    await expectUnavailable(away, key);
    await tunnel.restore();
    for (const path of ['/readyz', '/api/v1/products', '/graphql?query={products{has_more}}']) {
      const headers = { authorization: `Bearer ${key}`, 'apollo-require-preflight': 'true' };
      await eventually(async () => (await raw(away.url, path, { headers })).status === 200);
    }
  });

  test('a closed connection pool gives the same answers', async () => {
    await using closed = await startGateway();
    const { key } = await makeKey(closed, await makeOrganisation(closed));
    await closed.databases.close();
    await expectUnavailable(closed, key);
  });

  async function expectUnavailable({ url, logs }: TestGateway, key: string): Promise<void> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const rest = await raw(url, '/api/v1/products', { headers });
    const body = JSON.stringify({ query: '{ products { has_more } }' });
    const graphql = await raw(url, '/graphql', { method: 'POST', headers, body });
    for (const answer of [rest, graphql]) {
      expect(answer.status).toBe(503);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      expect(answer.text).not.toMatch(/mongo|127\.0\.0\.1|ECONN|topology/i);
      const id = answer.headers['x-request-id'];
      const line = await eventually(() => logs.find((log) => log.request_id === id && log.method !== undefined));
      expect(line).toMatchObject({ status: 503, code: 'unavailable' });
    }
    expect(JSON.parse(rest.text)).toMatchObject({ code: 'unavailable', status: 503 });
    expect(JSON.parse(graphql.text).errors[0].extensions).toMatchObject({ code: 'unavailable', status: 503 });
  }
});

const QUOTES = resourceOf('quotes').name;
/** A driver error that must not reach callers. */
const SECRET = 'E11000 duplicate key error collection: org_1.quotes at 10.0.0.7:27017';

function failReads(): void {
  // the driver's methods, which every read uses
  for (const read of ['find', 'findOne'] as const) {
    const method = Reflect.get(mongo.Collection.prototype, read) as (...args: unknown[]) => never;
    jest.spyOn(mongo.Collection.prototype, read).mockImplementation(function (this: mongo.Collection, ...args) {
      if (this.collectionName === QUOTES) throw new Error(SECRET);
      return method.apply(this, args);
    });
  }
  // and by fast reads, which do not decode rows
  const command = Reflect.get(mongo.Db.prototype, 'command') as (...args: unknown[]) => Promise<mongo.Document>;
  jest.spyOn(mongo.Db.prototype, 'command').mockImplementation(function (this: mongo.Db, ...args) {
    if (args[0].find === QUOTES) throw new Error(SECRET);
    return command.apply(this, args);
  });
}

function expectMasked({ text }: Answer): void {
  expect(text).not.toMatch(/E11000|org_|10\.0\.0\.7|node_modules|at .*\.ts|Cannot return null|stack/);
}

async function errorsLogged(answer: Answer, message: string): Promise<Record<string, unknown>> {
  const id = answer.headers.get('x-request-id');
  const line = await eventually(() => gateway.logs.find((log) => log.request_id === id && log.msg === message));
  return line.error as Record<string, unknown>;
}

describe('a database failure in an operation', () => {
  const caller = late(() => callerOf(gateway, makeNorthwind(gateway, 2)));
  afterEach(() => jest.restoreAllMocks());

  test.each(['/quotes', `/quotes/${northwind('quotes')[0]!.id}`])(
    'is a masked 500 for GET %s, logged with its request id',
    async (path) => {
      failReads();
      const answer = await caller.get(path);
      expect(answer.status).toBe(500);
      expect(answer.body).toEqual({
        type: '/errors/internal',
        title: 'Internal error',
        status: 500,
        detail: expect.any(String),
        code: 'internal',
        request_id: answer.headers.get('x-request-id'),
      });
      expectMasked(answer);
      expect(await errorsLogged(answer, 'request failed')).toMatchObject({ message: SECRET });
    },
  );

  test('is a masked error next to other data in GraphQL, logged with its request id', async () => {
    failReads();
    const answer = await caller.graphql('{ quotes { data { id } } me { key { id } } }');
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({ quotes: null, me: { key: { id: expect.any(String) } } });
    const extensions = { code: 'internal', status: 500, request_id: answer.headers.get('x-request-id') };
    expect(answer.body.errors).toEqual([
      { message: expect.any(String), locations: expect.any(Array), path: ['quotes'], extensions },
    ]);
    expectMasked(answer);
    expect(await errorsLogged(answer, 'resolver failed')).toMatchObject({ message: SECRET });
  });
});
