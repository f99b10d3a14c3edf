import type { Organisation } from '../../src/auth/principal';
import { databaseName } from '../../src/mongo/databaseNames';
import { eventually } from '../api/http/eventually';
import { type Answer, type Client, client } from '../support/client';
import { makeKey, makeNorthwind } from '../support/factories';
import { metric, served } from '../support/gateway';
import { head, openWire } from './wire';

/** How many may run, and how many may wait (docs/decisions/bodies-and-fairness.md). */
const UNDER_WAY = { query: 1, body: 2, page: 4 };
const WAITING = 16;
const FLOOD = 64;
const TOTALS = '{ order_totals(group_by: [STATUS]) { data { count } } }';
const NESTED = '{ customers(limit: 5) { data { id orders(limit: 5) { data { id } } } } }';

// calls are held for as long as a slow machine needs for the others
const uri = process.env.TEST_MONGODB_URI!;
const gateway = served(
  { MONGODB_URI: `${uri}${uri.includes('?') ? '&' : '/?'}monitorCommands=true` },
  { request: 600_000, stalled: 600_000, answer: 550_000 },
);
let [heavy, light]: Organisation[] = [];
let [heavyCaller, lightCaller]: Client[] = [];
let bearer: string;

beforeAll(async () => {
  [heavy, light] = [await makeNorthwind(gateway, 20), await makeNorthwind(gateway, 20)];
  const keys = [await makeKey(gateway, heavy), await makeKey(gateway, light)].map(({ key }) => key);
  [heavyCaller, lightCaller] = keys.map((key) => client(gateway, key));
  bearer = `Authorization: Bearer ${keys[0]!}`;
});

let release = (): void => undefined;
afterEach(() => {
  release(); // calls held by a failed test would make later ones fail
});

/** Delays an organisation's aggregations or transactions until `release` is called. */
function hold(organisation: Organisation, name: 'aggregations' | 'transaction'): void {
  const data = gateway.databases.organisationData(organisation);
  const work = data[name].bind(data) as (...args: unknown[]) => Promise<unknown>;
  const released = new Promise<void>((resolve) => {
    release = () => {
      Object.assign(data, { [name]: work });
      resolve();
    };
  });
  Object.assign(data, { [name]: (...held: unknown[]) => released.then(() => work(...held)) });
}

/** The maximum number of an organisation's commands with this name in flight while `work` ran. */
async function mostInFlight(organisation: Organisation, name: string, work: () => Promise<unknown>): Promise<number> {
  const flying = new Set<number>();
  let most = 0;
  const begin = (event: { commandName: string; databaseName: string; requestId: number }): void => {
    if (event.commandName !== name || event.databaseName !== databaseName(organisation.id)) return;
    flying.add(event.requestId);
    most = Math.max(most, flying.size);
  };
  const end = ({ requestId }: { requestId: number }): void => void flying.delete(requestId);
  const driver = gateway.databases.control.getClient();
  driver.on('commandStarted', begin).on('commandSucceeded', end).on('commandFailed', end);
  await work();
  driver.off('commandStarted', begin).off('commandSucceeded', end).off('commandFailed', end);
  return most;
}

/** The maximum number of commands that had or waited for a connection while `work` ran. */
async function mostAsked(work: () => Promise<unknown>): Promise<number> {
  let most = 0;
  const note = (): void => {
    const { checkedOut, pending } = gateway.databases.pool();
    most = Math.max(most, checkedOut + pending);
  };
  const driver = gateway.databases.control.getClient().on('connectionCheckOutStarted', note);
  await work();
  driver.off('connectionCheckOutStarted', note);
  return most;
}

const statuses = (answers: readonly Answer[], status: number): Answer[] =>
  answers.filter((answer) => answer.status === status);

test.each([
  ['totals', TOTALS],
  ['nested lists', NESTED],
])(
  'a flood of %s gets a few answers and otherwise 503, while single reads and other organisations are served',
  async (_name, query) => {
    hold(heavy!, 'aggregations');
    const answers: Answer[] = [];
    const flood = Array.from({ length: FLOOD }, async () => answers.push(await heavyCaller!.graphql(query)));
    await eventually(() => answers.length >= FLOOD - UNDER_WAY.query - WAITING);
    for (const { status, headers, body } of answers) {
      expect(status).toBe(503);
      expect(headers.get('retry-after')).toBe('2');
      expect(body.errors[0].extensions).toMatchObject({ code: 'unavailable', status: 503, retry_after: 2 });
    }
    const [order] = (await heavyCaller!.get('/orders', { limit: 1 })).body.data;
    expect((await heavyCaller!.get(`/orders/${String(order.id)}`)).status).toBe(200);
    expect((await heavyCaller!.post('/requests', { text: 'Beside it all' })).status).toBe(201);
    for (const own of [TOTALS, NESTED]) expect((await lightCaller!.graphql(own)).body.errors).toBeUndefined();
    release();
    await Promise.all(flood);
    expect(statuses(answers, 200)).toHaveLength(UNDER_WAY.query + WAITING);
    expect((await heavyCaller!.graphql(query)).status).toBe(200);
  },
);

test('bodies over 64 KiB take turns of their own, and small ones need none', async () => {
  hold(heavy!, 'transaction');
  const products = [{ sku: 'TURN', name: 'Turn', description: 'x'.repeat(4000) }];
  const headers = { 'content-type': 'application/json' };
  const send = (body: object, bytes: number): Promise<Answer> =>
    heavyCaller!.send('POST', '/products/bulk', { body: JSON.stringify(body).padEnd(bytes), headers });
  const [large, all] = [65 * 1024, UNDER_WAY.body + WAITING];
  const answers: Answer[] = [];
  const flood = Array.from({ length: all + 1 }, async () => answers.push(await send({ products }, large)));
  await eventually(() => answers.length > 0);
  expect(answers.map(({ body }) => body)).toEqual([expect.objectContaining({ status: 503, code: 'unavailable' })]);
  const small = send({ products }, 0);
  await eventually(async () => (await inHand()) === all + 1);
  expect((await heavyCaller!.graphql(TOTALS)).body.errors).toBeUndefined();
  release();
  await Promise.all(flood);
  expect(statuses(answers, 200)).toHaveLength(all);
  expect((await small).status).toBe(200);
});

test.each([
  ['REST', (): Promise<Answer> => heavyCaller!.get('/quotes', { include: 'lines' })],
  ['GraphQL', (): Promise<Answer> => heavyCaller!.graphql('{ quotes { data { id lines { id } } } }')],
])('at most four pages with lines are read at a time in %s, and none is rejected', async (_face, ask) => {
  const answers: Answer[] = [];
  const most = await mostInFlight(heavy!, 'find', async () => {
    answers.push(...(await Promise.all(Array.from({ length: FLOOD }, ask))));
  });
  expect(statuses(answers, 200)).toHaveLength(FLOOD);
  expect(most).toBeLessThanOrEqual(UNDER_WAY.page);
});

test('a caller that disconnects gives up its place in the queue', async () => {
  hold(heavy!, 'aggregations');
  const body = JSON.stringify({ query: TOTALS });
  const text = `${head('POST /graphql', bearer, 'Content-Type: application/json', `Content-Length: ${String(body.length)}`)}\r\n${body}`;
  const wires = await Promise.all(Array.from({ length: UNDER_WAY.query + WAITING }, () => openWire(gateway.url)));
  for (const { send } of wires) send(text);
  await eventually(async () => (await inHand()) === UNDER_WAY.query + WAITING);
  for (const { socket } of wires) socket.resetAndDestroy();
  await eventually(async () => (await inHand()) === UNDER_WAY.query);
  const next = Promise.all(Array.from({ length: WAITING }, () => heavyCaller!.graphql(TOTALS)));
  await eventually(async () => (await inHand()) === UNDER_WAY.query + WAITING);
  release();
  expect(statuses(await next, 200)).toHaveLength(WAITING);
  await eventually(async () => (await inHand()) === 0);
});

test('an organisation has at most one aggregation and twenty reads in flight', async () => {
  const twenty = (field: string): string =>
    `{ ${Array.from({ length: 20 }, (_none, at) => `f${String(at)}: ${field}`).join(' ')} }`;
  const ten = (query: string) => (): Promise<unknown> =>
    Promise.all(Array.from({ length: 10 }, () => heavyCaller!.graphql(query)));
  expect(await mostInFlight(heavy!, 'aggregate', ten(twenty('order_totals { data { count } }')))).toBe(1);
  const pages = ten(twenty('orders { has_more }'));
  // plus one key lookup per request
  expect(await mostAsked(pages)).toBeLessThanOrEqual(20 + 10);
});

const inHand = (): Promise<number> => metric(gateway, 'scopegate_http_requests_in_hand');
