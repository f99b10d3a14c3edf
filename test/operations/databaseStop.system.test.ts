import { randomUUID } from 'node:crypto';
import { openDatabaseProxy } from '../../faults/databaseProxy';
import { generateKey } from '../../src/auth/keys';
import { isAlive } from '../../src/embedded/process';
import { makeKey, makeOrganisation } from '../support/factories';
import { late, metric, servedBy, startGateway } from '../support/gateway';
import { eventually } from '../api/http/eventually';
import { raw, type RawAnswer, untilReady } from '../api/http/raw';
import { startDatabase } from './database';

/** Time limit in milliseconds: slow machines need more than the promised 3 s; the driver's own timeout is 30 s. */
const SOON = 20_000;
const LIST = '{ products { has_more } }';

const database = late(startDatabase);
const gateway = servedBy(() => startGateway({ MONGODB_URI: database.uri }));
afterAll(() => database.stop());
let organisation: Awaited<ReturnType<typeof makeOrganisation>>;
let made: Awaited<ReturnType<typeof makeKey>>;
let key: string;

beforeAll(async () => {
  organisation = await makeOrganisation(gateway);
  made = await makeKey(gateway, organisation);
  ({ key } = made);
  expect((await read()).status).toBe(200);
});

afterEach(async () => {
  database.release();
  await eventually(async () => (await call('/api/v1/me')).status === 200);
});

function readiness(): Promise<Response> {
  return fetch(`${gateway.url}/readyz`);
}

/** Sends a GET with the key, or a POST if there is a body. */
function call(path: string, body?: object): Promise<RawAnswer> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return raw(gateway.url, path, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
}

const read = (): Promise<RawAnswer> => call('/api/v1/products');
const graphql = (query: string): Promise<RawAnswer> => call('/graphql', { query });

async function timed<T>(work: Promise<T>): Promise<{ answer: T; ms: number }> {
  const start = performance.now();
  return { answer: await work, ms: performance.now() - start };
}

function expectUnavailable({ status, headers, text }: RawAnswer): void {
  expect(status).toBe(503);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  expect(text).toContain('"code":"unavailable"');
}

const CALLS: readonly (() => Promise<RawAnswer>)[] = [
  read,
  () => graphql(LIST),
  () => call('/api/v1/requests', { text: 'While it stands still' }),
  () => graphql('mutation { open_request(text: "Still") { id } }'),
  () => call('/api/v1/products/bulk', { products: [{ sku: randomUUID(), name: 'A' }] }),
];

test('while the database is paused each kind of request quickly gets 503 with Retry-After, in both APIs, and at once when the gateway has noticed; it is live but not ready, recovers with the database, and logs both changes', async () => {
  const states = (): unknown[] =>
    gateway.logs.map(({ database: state }) => state).filter((state) => state !== undefined);
  const before = states().length;
  database.hold();
  const { answer: first, ms: noticed } = await timed(Promise.all(CALLS.map((make) => make())));
  first.forEach(expectUnavailable);
  expect(noticed).toBeLessThan(SOON);

  const { answer, ms } = await timed(Promise.all(Array.from({ length: 500 }, () => graphql(LIST))));
  answer.forEach(expectUnavailable);
  expect(ms).toBeLessThan(SOON);
  // an answer arrives before its request is counted as done
  await eventually(async () => (await metric(gateway, 'scopegate_http_requests_in_hand')) < 10);

  // a request has its key and its organisation in the log, which the gateway knows from before
  const seen = gateway.logs.length;
  expectUnavailable(await read());
  const unknown = generateKey('svc_live_', '');
  const headers = { authorization: `Bearer ${unknown.key}` };
  expectUnavailable(await raw(gateway.url, '/api/v1/products', { headers }));
  const lines = await eventually(() => {
    const said = gateway.logs.slice(seen).filter(({ status, path }) => status === 503 && path === '/api/v1/products');
    return said.length === 2 ? said : undefined;
  });
  expect(lines[0]).toMatchObject({ reason: 'away', key_id: made.id, organisation_id: organisation.id });
  expect(lines[1]).toMatchObject({ reason: 'away', key_id: unknown.id });
  expect(lines[1]).not.toHaveProperty('organisation_id');

  // what needs no database is answered
  expect((await fetch(`${gateway.url}/livez`)).status).toBe(200);
  expect((await raw(gateway.url, '/api/v1/products', {})).status).toBe(401);
  expect((await call('/api/v1/openapi.json')).status).toBe(200);
  expect((await call('/api/v1/nothing')).status).toBe(404);
  const { answer: ready, ms: told } = await timed(readiness());
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({ status: 'unavailable', checks: { database: 'unavailable' } });
  expect(told).toBeLessThan(SOON);

  database.release();
  await eventually(async () => (await read()).status === 200);
  expect(JSON.parse((await graphql(LIST)).text)).toEqual({ data: { products: { has_more: false } } });
  expect((await call('/api/v1/requests', { text: 'It goes on' })).status).toBe(201);
  await eventually(async () => (await readiness()).status === 200);
  await eventually(() => states().length >= before + 2);
  expect(states().slice(before)).toEqual(['unavailable', 'ok']);
});

test('requests in progress when the database is paused get 503 too', async () => {
  const underWay = Array.from({ length: 60 }, (_, at) => CALLS[at % CALLS.length]!());
  database.hold();
  const { answer, ms } = await timed(Promise.all(underWay));
  expect(ms).toBeLessThan(SOON);
  for (const one of answer) if (one.status >= 300) expectUnavailable(one);
});

test('/readyz says why a database is away, without its address, and the log with it', async () => {
  const proxy = await openDatabaseProxy(database.uri, { onReply: (reply) => reply });
  await using own = await startGateway({ MONGODB_URI: proxy.uri });
  await untilReady(own);
  await proxy.close();
  await eventually(async () => {
    const { detail } = (await (await fetch(`${own.url}/readyz`)).json()) as { readonly detail?: string };
    return detail === 'no connection (ECONNREFUSED)';
  }, SOON);
  const { host } = new URL(proxy.uri);
  const line = await eventually(() => own.logs.find(({ msg }) => msg === 'the database is not responding'));
  expect(line).toMatchObject({ database: 'unavailable', error: { message: expect.any(String) as unknown } });
  expect(JSON.stringify(line.error)).toMatch(new RegExp(`no answer within|${host}`));
});

test('a gateway that records events stops within its time limit while the database is paused', async () => {
  const environment = { MONGODB_URI: database.uri, CONTROL_DATABASE: 'scopegate_stopped', EVENTS: 'on' };
  const own = await startGateway(environment, { drain: 2000 });
  const client = await own.databases.streams();
  database.hold();
  // its tail waits for an answer as this command does, until the driver gives up
  const givenUp = client
    .db('admin')
    .command({ ping: 1 })
    .catch(() => 'given up');
  const drained = own.drain().then(() => 'drained');
  expect(await Promise.race([drained, givenUp])).toBe('drained');
  database.release();
  await own.stop();
});

test('a database that a gateway started itself and that is killed is started again, with what was stored', async () => {
  process.kill(database.pid, 'SIGKILL');
  await eventually(() => !isAlive(database.pid));
  await eventually(async () => (await read()).status === 200, 120_000);
});
