import { randomUUID } from 'node:crypto';
import mongoose, { type mongo } from 'mongoose';
import type { Organisation } from '../../src/auth/principal';
import { databaseName } from '../../src/mongo/databaseNames';
import { events } from '../../src/events/collection';
import { tailRows } from '../../src/events/tail/lease';
import { LOST_POSITION } from '../support/fixtures/events';
import { type Client, client, type Json } from '../support/client';
import { reportsDroppedTargets } from '../support/differences';
import { makeKey, makeOrganisation } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';
import { feedReader } from './feed';

/* Events of changes by every writer. What happens while gateways that record them are stopped and killed, faults/cases/events.ts tests. */

const ENVIRONMENT = { CONTROL_DATABASE: `scopegate_events_${randomUUID().slice(0, 8)}`, EVENTS: 'on' };
let gateway: TestGateway;
let bare: mongo.MongoClient;

beforeAll(async () => {
  gateway = await startGateway(ENVIRONMENT);
  // as the application that owns quotes and orders
  bare = await mongoose.mongo.MongoClient.connect(process.env.TEST_MONGODB_URI!, { writeConcern: { w: 'majority' } });
});
afterAll(async () => {
  await gateway.stop();
  await bare.db(ENVIRONMENT.CONTROL_DATABASE).dropDatabase();
  await bare.close();
});

interface Scene {
  readonly organisation: Organisation;
  readonly caller: Client;
  readonly db: mongo.Db;
}

async function newScene(): Promise<Scene> {
  const organisation = await makeOrganisation(gateway);
  const { key } = await makeKey(gateway, organisation);
  return { organisation, caller: client(gateway, key), db: bare.db(databaseName(organisation.id)) };
}

interface Row {
  readonly _id: string;
  readonly [member: string]: unknown;
}

const table = ({ db }: Scene, name: string): mongo.Collection<Row> => db.collection<Row>(name);

const now = (): Date => new Date();
const quote = (status = 'draft'): Row => ({ _id: randomUUID(), number: randomUUID(), status, updated_at: now() });

/** All events so far. */
const feed = ({ caller }: Scene, isLast: (event: Json) => boolean): Promise<Json[]> => feedReader(caller)(isLast);

const short = ({ type, object, changes, status }: Json): unknown[] => [type, object?.id, changes, status];
/** Marks the end of a feed: nothing committed earlier can come after it. */
async function end(scene: Scene): Promise<(event: Json) => boolean> {
  const last = quote('withdrawn');
  await table(scene, 'quotes').insertOne(last);
  return ({ object }) => object?.id === last._id;
}

test('every committed change is one event, in order, whoever wrote it; rolled back and internal changes are not events', async () => {
  const scene = await newScene();
  const { caller, db } = scene;
  const first = quote();
  await table(scene, 'quotes').insertOne(first);
  const { body: made } = await caller.post('/products/bulk', { products: [{ sku: 'A', name: 'One' }] });
  await caller.post('/products/bulk', { products: [{ sku: 'A', name: 'Two', description: 'x' }] });
  await caller.post('/products/bulk', { products: [{ sku: 'A', name: 'Two', description: 'x' }] });
  const { body: thread } = await caller.post('/requests', { text: 'How long?' });
  await table(scene, 'messages').updateOne({ request_id: thread.id }, { $set: { body: 'redacted' } });
  // the status of a part's object is that of when the change is recorded
  await feed(scene, ({ type }) => type === 'request.updated');
  await table(scene, 'quotes').updateOne(
    { _id: first._id },
    { $set: { status: 'sent', 'contact.name': 'A', search: ['A'] } },
  );
  await table(scene, 'quotes').updateOne({ _id: first._id }, { $set: { search: ['B'] } });
  await table(scene, 'quotes').updateOne(
    { _id: first._id },
    { $unset: { valid_until: '' }, $set: { currency: 'EUR' } },
  );
  const [kept, aborted] = [quote('draft'), quote('sent')];
  const by = { author: 'organisation', author_name: null, created_at: now() };
  const answer = { _id: randomUUID(), request_id: thread.id as string, body: 'Two weeks.', ...by };
  const session = bare.startSession();
  await session.withTransaction(async () => {
    await table(scene, 'quotes').insertOne(kept, { session });
    await table(scene, 'quotes').updateOne({ _id: kept._id }, { $set: { status: 'sent' } }, { session });
    await table(scene, 'quotes').updateOne({ _id: first._id }, { $set: { status: 'accepted' } }, { session });
    await table(scene, 'messages').insertOne(answer, { session });
    const answered = { status: 'answered', message_count: 2, last_message_at: by.created_at };
    await table(scene, 'requests').updateOne({ _id: thread.id }, { $set: answered }, { session });
  });
  session.startTransaction();
  await table(scene, 'quotes').insertOne(aborted, { session });
  await table(scene, 'quotes').updateOne({ _id: first._id }, { $set: { status: 'declined' } }, { session });
  await session.abortTransaction();
  await session.endSession();
  await table(scene, 'quotes').deleteOne({ _id: first._id });
  const all = await feed(scene, await end(scene));
  const product = made.results[0].id as string;
  expect(all.slice(0, -1).map(short)).toEqual([
    ['quote.created', first._id, [], 'draft'],
    ['product.created', product, [], null],
    ['product.updated', product, ['name', 'description', 'updated_at'], null],
    ['request.created', thread.id, [], 'open'],
    ['request.message_added', thread.id, [], 'open'],
    ['request.updated', thread.id, ['messages'], 'open'],
    ['quote.status_changed', first._id, ['status'], 'sent'],
    ['quote.updated', first._id, ['currency'], 'sent'],
    ['quote.created', kept._id, [], 'draft'],
    ['quote.status_changed', kept._id, ['status'], 'sent'],
    ['quote.status_changed', first._id, ['status'], 'accepted'],
    // with the status after its transaction, in which that came later
    ['request.message_added', thread.id, [], 'answered'],
    ['request.status_changed', thread.id, ['status', 'message_count', 'last_message_at'], 'answered'],
    ['quote.deleted', first._id, [], null],
  ]);
  // the messages of the thread are named
  const question = await table(scene, 'messages').findOne({ request_id: thread.id, body: 'redacted' });
  const related = [question, question, answer].map((message) => ({ type: 'message', id: message?._id }));
  expect(all.flatMap((event) => (event.related ? [event.related] : []))).toEqual(related);
  expect(new Set(all.map(({ id }) => id as string)).size).toBe(all.length);
  const times = all.map(({ occurred_at }) => Date.parse(occurred_at as string));
  expect([...times].sort((a, b) => a - b)).toEqual(times);
  // few have only the index that expires them
  const stored = await db.collection(events.name).indexes();
  expect(stored.map(({ name }) => name).sort()).toEqual(['_id_', 'at_1']);
  expect(stored.find(({ name }) => name === 'at_1')).toMatchObject({ expireAfterSeconds: 30 * 24 * 3600 });
});

const lease = (): mongo.Collection<Json> => tailRows(bare, ENVIRONMENT.CONTROL_DATABASE) as never;

test('changes missing from the log are reported as a gap, followed by objects changed since', async () => {
  const [scene, empty] = [await newScene(), await newScene()];
  const old = { ...quote('sent'), updated_at: new Date('2020-01-01') };
  await table(scene, 'quotes').insertOne(old);
  const before = await feed(scene, await end(scene));
  await gateway.stop();
  const changed = quote('accepted');
  await table(scene, 'quotes').insertOne(changed);
  await lease().updateOne({ _id: 'tail' }, { $set: LOST_POSITION });
  gateway = await startGateway(ENVIRONMENT);
  const { key } = await makeKey(gateway, scene.organisation);
  const again = { ...scene, caller: client(gateway, key) };
  const all = (await feed(again, await gapped(again))).slice(before.length);
  const [gap] = all;
  expect(gap).toMatchObject({ type: 'feed.gap', object: null, changes: [], status: null });
  expect(gap.gap.from).toBe(new Date(1_600_000_000_000).toISOString());
  expect(Date.parse(gap.gap.to as string)).toBeGreaterThan(Date.now() - 60_000);
  expect(all.map(short)).toContainEqual(['quote.updated', changed._id, [], 'accepted']);
  expect(all.filter(({ object }) => object?.id === old._id)).toEqual([]);
  // an organisation without data is not affected, and gets no collection
  expect(await empty.db.listCollections({ name: events.name }).toArray()).toEqual([]);
  expect(gateway.logs.filter(({ msg }) => String(msg).includes('no longer has all changes'))).toHaveLength(1);

  /** Waits for the gap, since changes before its end may not be reported. */
  async function gapped(of: Scene): Promise<(event: Json) => boolean> {
    await feed(of, ({ type }) => type === 'feed.gap');
    return end(of);
  }
});

test('an organisation whose database rejects its events delays no other, and gets a gap', async () => {
  const [scene, other] = [await newScene(), await newScene()];
  await feed(scene, await end(scene));
  await scene.db.command({ collMod: events.name, validator: { $expr: false } });
  await end(scene);
  await feed(other, await end(other));
  await scene.db.command({ collMod: events.name, validator: {} });
  const all = await feed(scene, await end(scene));
  expect(all.map(({ type }) => type as string)).toEqual(['quote.created', 'feed.gap', 'quote.created']);
});

test('a foreign database, and that of an organisation without changes, get no events collection', async () => {
  const [scene, idle] = [await newScene(), await newScene()];
  const foreign = { ...scene, db: bare.db(databaseName(randomUUID())) };
  await end(foreign);
  await feed(scene, await end(scene));
  expect((await foreign.db.listCollections().toArray()).map(({ name }) => name)).toEqual(['quotes']);
  expect(await idle.db.listCollections().toArray()).toEqual([]);
  await foreign.db.dropDatabase();
});

test('renaming a collection to or from a public name is recorded as a gap', async () => {
  const scene = await newScene();
  const [kept, other] = [quote(), quote()];
  await table(scene, 'quotes').insertOne(kept);
  await table(scene, 'made_elsewhere').insertOne(other);
  await table(scene, 'made_elsewhere').rename('quotes', { dropTarget: true });
  await table(scene, 'orders').insertOne(quote());
  await table(scene, 'orders').rename('orders_before');
  const all = await feed(scene, await end(scene));
  const replaced = (await reportsDroppedTargets(bare)) ? ['feed.gap', 'feed.gap'] : ['feed.gap'];
  expect(all.slice(0, -1).map(({ type }) => type)).toEqual(['quote.created', ...replaced, 'order.created', 'feed.gap']);
});
