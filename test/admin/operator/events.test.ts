import { randomUUID } from 'node:crypto';
import { databaseName } from '../../../src/mongo/databaseNames';
import type * as Limits from '../../../src/limits';
import { cursorOfLog } from '../../../src/events/deploymentFeed';
import { eventually } from '../../api/http/eventually';
import { LOST_POSITION } from '../../support/fixtures/events';
import { client, type Json } from '../../support/client';
import { makeKey, northwind } from '../../support/factories';
import { recordCommands } from '../../support/recordedCommands';
import { recordKinds } from '../../../src/resources';
import { storeRecords } from '../../../src/stored/records';
import { driver, metric, served, servedBy, startGateway, type TestGateway } from '../../support/gateway';
import { startMongos } from '../../support/mongos';
import { newRef, operator, SECRET } from './operator';

/* The events of all organisations, for operators. */

// a request may read four times as much
const MAX_ANSWER = 1024 * 1024;
jest.mock('../../../src/units', () => ({
  ...jest.requireActual<object>('../../../src/units'),
  MAX_ANSWER: 1024 * 1024,
}));

// each that waits opens a stream of the database
const MOST_WAITS = 4;
jest.mock('../../../src/limits', () => {
  const limits = jest.requireActual<typeof Limits>('../../../src/limits');
  return { ...limits, EVENT_WAITS: { ...limits.EVENT_WAITS, caller: 4 } };
});

const ENVIRONMENT = {
  OPERATOR_TOKENS: `billing=${SECRET}`,
  CONTROL_DATABASE: `scopegate_feed_${randomUUID().slice(0, 8)}`,
  EVENTS: 'on',
};
const gateway = servedBy(() => startGateway(ENVIRONMENT));
const other = served({ ...ENVIRONMENT, EVENTS: 'off' });
afterAll(() => bare.db(ENVIRONMENT.CONTROL_DATABASE).dropDatabase());
const bare = driver();

interface Scene {
  readonly id: string;
  readonly ref: string;
  readonly caller: ReturnType<typeof client>;
}

async function newScene(): Promise<Scene> {
  const ref = newRef();
  const { body } = await operator(gateway).post('/organisations', { name: 'Acme', external_ref: ref });
  const organisation = (await gateway.control.organisations.find(body.id as string))!;
  const { key } = await makeKey(gateway, organisation);
  return { id: organisation.id, ref, caller: client(gateway, key) };
}

const dataOf = ({ id }: Scene) => gateway.databases.organisationData({ id });
const store = ({ caller }: Scene, ...skus: string[]) =>
  caller.post('/products/bulk', { products: skus.map((sku) => ({ sku, name: sku })) });
const query = (args: object): string =>
  new URLSearchParams(Object.entries(args).flatMap(([k, v]) => [v].flat().map((one) => [k, String(one)]))).toString();
const ask = async (args: object = {}, of: TestGateway = gateway): Promise<Json> => {
  const answer = await operator(of).get(`/events?${query(args)}`);
  expect(answer.status).toBe(200);
  return answer.body;
};

/** All events after a cursor, until one that `isLast` accepts. */
async function follow(
  after: string,
  isLast: (event: Json) => boolean,
  args: object = {},
  of = gateway,
): Promise<Json[]> {
  const all: Json[] = [];
  for (let [turn, cursor] = [0, after]; turn < 50; turn += 1) {
    const page = await ask({ wait: 2, ...args, after: cursor }, of);
    all.push(...page.data);
    cursor = page.next_cursor;
    if (all.some(isLast)) return all;
  }
  throw new Error(`not among ${JSON.stringify(all)}`);
}

const now = async (of = gateway): Promise<string> => (await ask({}, of)).next_cursor as string;
const isDeletion = ({ type }: Json): boolean => type === 'product.deleted';

test('the events of all organisations come once, in order for each, with its id and ref, from every gateway and after a restart', async () => {
  const [one, two] = [await newScene(), await newScene()];
  const after = await now();
  for (let n = 0; n < 2; n += 1) {
    await store(one, ...[1, 2, 3].map((sku) => `${String(n)}-${String(sku)}`));
    await store(two, `only-${String(n)}`);
  }
  await bare.db(databaseName(two.id)).collection('products').deleteOne({ sku: 'only-0' });
  const all = await follow(after, isDeletion, { limit: 4 });
  const feedOf = async ({ caller }: Scene) => (await caller.get('/events', { limit: 100 })).body.data as Json[];
  for (const { id, ref, caller } of [one, two]) {
    const own = all.filter(({ organisation_id }) => organisation_id === id);
    const shown = own.map(({ organisation_id, organisation_ref, ...event }) => {
      expect([organisation_id, organisation_ref]).toEqual([id, ref]);
      return event;
    });
    expect(shown).toEqual(await feedOf({ id, ref, caller }));
  }
  expect(all).toHaveLength(9);
  // from the middle, by another gateway, and by one that starts later
  const { next_cursor: middle } = await ask({ after, limit: 5, wait: 5 });
  const rest = all.slice(5);
  expect(await follow(middle as string, isDeletion, {}, other)).toEqual(rest);
  await using later = await startGateway({ ...ENVIRONMENT, EVENTS: 'off' });
  expect(await follow(middle as string, isDeletion, { limit: 3 }, later)).toEqual(rest);
});

test('events can be filtered by types and by an organisation, named by its id or ref', async () => {
  const [one, two] = [await newScene(), await newScene()];
  const after = await now();
  await store(two, 'a');
  await store(one, 'b');
  await one.caller.post('/requests', { text: 'How long?' });
  const isLast = ({ type }: Json): boolean => type === 'request.created';
  const types = ['request.created'];
  expect((await follow(after, isLast, { types })).map(({ type }) => type)).toEqual(types);
  for (const organisation of [one.id, `ref:${one.ref}`]) {
    const found = await follow(after, isLast, { organisation });
    expect(found.map(({ type, organisation_id: id }) => [type, id])).toEqual(
      ['product.created', 'request.created', 'request.message_added']
        .slice(0, found.length)
        .map((type) => [type, one.id]),
    );
  }
  for (const unknown of [randomUUID(), 'ref:none', 'x']) {
    const { status, body } = await operator(gateway).get(`/events?organisation=${unknown}`);
    expect([status, body.errors[0].parameter]).toEqual([400, 'organisation']);
  }
});

test('include=related adds the message that was added, as the API shows it', async () => {
  const scene = await newScene();
  const after = await now();
  const { body: thread } = await scene.caller.post('/requests', { text: 'How long?' });
  const isAdded = ({ type }: Json): boolean => type === 'request.message_added';
  const all = await follow(after, isAdded, { include: 'related' });
  const { body: messages } = await scene.caller.get(`/requests/${thread.id as string}/messages`);
  expect(messages.data).toMatchObject([{ body: 'How long?' }]);
  expect(all.map(({ type, current_related }) => [type, current_related])).toEqual([
    ['request.created', null],
    ['request.message_added', messages.data[0]],
  ]);
  expect(all[0]).not.toHaveProperty('current');
});

test('include=object adds the object as the API shows it, or null if it is gone; a move is 503', async () => {
  const scene = await newScene();
  const after = await now();
  const { body: made } = await store(scene, 'kept', 'gone');
  await bare.db(databaseName(scene.id)).collection('products').deleteOne({ sku: 'gone' });
  const all = await follow(after, isDeletion, { include: 'object' });
  const { body: kept } = await scene.caller.get(`/products/${made.results[0].id as string}`);
  expect(all.map(({ current }) => current)).toEqual([kept, null, null]);
  expect((await follow(after, isDeletion))[0]).not.toHaveProperty('current');
  const { body } = await operator(gateway).graphql(
    'query ($after: String) { events(after: $after, wait: 5) { data { type current } next_cursor } }',
    { after },
  );
  expect(body.data.events.data[0]).toEqual({ type: 'product.created', current: kept });
  // one that cannot be shown is null as well, which the answer and the log tell
  await bare
    .db(databaseName(scene.id))
    .collection('products')
    .updateOne({ sku: 'kept' }, { $set: { name: null } }, { bypassDocumentValidation: true });
  const spoilt = await operator(gateway).get(`/events?${query({ after, include: 'object' })}`);
  const currents = (spoilt.body.data as Json[]).map(({ current }) => current as unknown);
  expect([currents[0], spoilt.headers.get('scopegate-omitted')]).toEqual([null, '1']);
  const logged = gateway.logs.filter(
    ({ organisation_id, pointer }) => organisation_id === scene.id && pointer === '/name',
  );
  expect(logged).toMatchObject([{ collection: 'products', id: kept.id }]);
  const rows = bare.db(ENVIRONMENT.CONTROL_DATABASE).collection<{ _id: string }>('organisations');
  const moving = { to: 'b', mover: 'm', begun_at: new Date(), seen_at: new Date() };
  await rows.updateOne({ _id: scene.id }, { $set: { move: moving } });
  const refused = await operator(gateway).get(`/events?${query({ after, include: 'object' })}`);
  expect([refused.status, refused.body.code]).toEqual([503, 'unavailable']);
  await rows.updateOne({ _id: scene.id }, { $unset: { move: '' } });
});

test('a cursor that was altered is refused, and one from before the log is 410', async () => {
  const after = await now();
  expect((await operator(gateway).get(`/events?${query({ after: `${after}A` })}`)).status).toBe(400);
  const old = cursorOfLog(LOST_POSITION);
  const { status, body } = await operator(gateway).get(`/events?${query({ after: old })}`);
  expect([status, body.code]).toEqual([410, 'cursor_expired']);
});

test('through mongos the events of organisations on all shards come', async () => {
  await using mongos = await startMongos(['a', 'b']);
  const more = { MONGODB_URI: mongos.uri, CONTROL_DATABASE: `scopegate_feed_${randomUUID().slice(0, 8)}` };
  await using own = await startGateway({ ...ENVIRONMENT, ...more });
  const after = await now(own);
  const ids: string[] = [];
  for (const shard of ['a', 'b']) {
    const { body } = await operator(own).post('/organisations', { name: shard, shard });
    const { key } = await makeKey(own, (await own.control.organisations.find(body.id as string))!);
    await client(own, key).post('/products/bulk', { products: [{ sku: shard, name: shard }] });
    ids.push(body.id as string);
  }
  const all = await follow(after, ({ organisation_id: id }) => id === ids[1], {}, own);
  expect(all.map(({ organisation_id: id }) => id as string)).toEqual(ids);
  await bare.db(more.CONTROL_DATABASE).dropDatabase();
});

test('a waiting request gets an event of any organisation, and a token can have 20', async () => {
  expect(jest.requireActual<typeof Limits>('../../../src/limits').EVENT_WAITS.caller).toBe(20);
  const scene = await newScene();
  const after = await now();
  const WAITING = 'scopegate_events_waiting_requests';
  // which no other test stores, so that none of its last events is one of these
  const asked = { after, wait: 20, types: 'customer.created' };
  // a slow machine can take longer to begin the last than the first waits
  const waitOn = async (): Promise<Json> => {
    for (;;) {
      const { status, body } = await operator(other).get(`/events?${query(asked)}`);
      if (status !== 429 && (status !== 200 || body.data.length > 0)) return { status, body };
    }
  };
  const held = Array.from({ length: MOST_WAITS }, waitOn);
  await eventually(async () => (await metric(other, WAITING)) === MOST_WAITS);
  // which may get the place of one that waits again
  const refused = await eventually(async () => {
    const answer = await operator(other).get(`/events?${query({ ...asked, wait: 1 })}`);
    return answer.status === 200 ? undefined : answer;
  });
  expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
  await scene.caller.post('/customers/bulk', { customers: [{ external_ref: 'a', name: 'Ann' }] });
  for (const { status, body } of await Promise.all(held))
    expect([status, body.data[0].organisation_id]).toEqual([200, scene.id]);
});

test('an organisation that is gone, or of another control database, has no events here', async () => {
  const [scene, kept] = [await newScene(), await newScene()];
  const after = await now();
  await store(scene, 'a');
  await follow(after, ({ organisation_id: id }: Json) => id === scene.id);
  await bare.db(ENVIRONMENT.CONTROL_DATABASE).collection<{ _id: string }>('organisations').deleteOne({ _id: scene.id });
  await store(kept, 'b');
  const all = await follow(after, ({ organisation_id: id }: Json) => id === kept.id);
  expect(new Set(all.map(({ organisation_id: id }) => id as string))).toEqual(new Set([kept.id]));
});

test('however many events and however large objects there are, a page reads and answers a bounded part', async () => {
  const scene = await newScene();
  const { proxy, sent } = await recordCommands();
  // closed even if this fails: open, it would keep the process alive
  await using through = proxy;
  await using own = await startGateway({ ...ENVIRONMENT, EVENTS: 'off', MONGODB_URI: through.uri });
  const after = await now();
  const [quote] = northwind('quotes') as unknown as [{ id: string }];
  await storeRecords(
    recordKinds.find(({ file }) => file === 'quotes')!,
    dataOf(scene),
    [quote],
    { by: 'operator' },
  );
  await follow(after, ({ object }: Json) => object?.id === quote.id);
  const quotes = bare.db(databaseName(scene.id)).collection<{ _id: string }>('quotes');
  const stored = (await quotes.findOne({ _id: quote.id }))!;
  // together more than a request may read
  const [line] = (stored as Json).lines;
  const lines = [{ ...line, description: 'x'.repeat((5 * MAX_ANSWER) / 40) }];
  const large = Array.from({ length: 40 }, () => ({ ...stored, lines, _id: randomUUID(), number: randomUUID() }));
  await quotes.insertMany(large);
  await follow(after, ({ object }: Json) => object?.id === large.at(-1)!._id, { limit: 100 });
  sent.length = 0;
  const page = await ask({ after, limit: 30 }, own);
  expect([page.data.length, page.has_more]).toEqual([30, true]);
  const reads = sent.filter(({ getMore, aggregate }: Json) => getMore !== undefined || aggregate === 1) as Json[];
  expect(reads.length).toBeGreaterThan(0);
  expect(reads.every(({ batchSize, cursor }) => (batchSize ?? cursor.batchSize) === 31)).toBe(true);
  const refused = await operator(own).get(`/events?${query({ after, limit: 100, include: 'object' })}`);
  // not for the size of the answer, which is known only once all is read
  expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining('from the database')]);
});
