import { EventEmitter, once } from 'node:events';
import mongoose from 'mongoose';
import { GatewayError, type Source } from '../../../clients/sync/src';
import { eventually } from '../../api/http/eventually';
import { TOKENS } from '../../admin/operator/operator';
import { driver, served } from '../../support/gateway';
import type { Json } from '../../support/client';
import { SOURCES, syncScene } from './syncScene';

/* @scopegate/sync: an app's collections against a gateway. */

const { ObjectId } = mongoose.mongo;
const gateway = served(TOKENS);
const bare = driver();
let scene: Awaited<ReturnType<typeof syncScene>>;

beforeEach(async () => {
  scene = await syncScene(gateway, bare);
});
afterEach(async () => {
  await scene.stop();
});

const hasPosition = () => scene.positions.findOne({ _id: 'position' });
const numbers = async (of = scene.account): Promise<unknown[]> =>
  (await scene.rows('quotes', of)).map(({ number }) => number as unknown).sort();

/** Starts a sync on a database that is empty or was sent before. */
async function running(more: Parameters<typeof scene.open>[0] = {}) {
  const opened = scene.open(more);
  const run = opened.run();
  run.catch(() => undefined);
  await eventually(hasPosition);
  return opened;
}

test('what is there is sent at first, then what is created, changed and deleted, under its _id as external_ref', async () => {
  const { offers, people, account, rows } = scene;
  const [person, one, two] = [new ObjectId(), new ObjectId(), new ObjectId()];
  await people.insertOne({ _id: person, account: account.ref, name: 'Ann' });
  await offers.insertOne({ _id: one, account: account.ref, title: 'A', person });
  await running();
  const [customer] = await rows('customers');
  expect(customer).toMatchObject({ external_ref: person.toHexString(), name: 'Ann' });
  expect(await rows('quotes')).toMatchObject([
    { number: 'A', external_ref: one.toHexString(), customer_id: customer._id },
  ]);
  await offers.insertOne({ _id: two, account: account.ref, title: 'B' });
  await offers.updateOne({ _id: one }, { $set: { title: 'C' } });
  await eventually(async () => (await numbers()).join() === 'B,C');
  await offers.deleteOne({ _id: one });
  await eventually(async () => (await numbers()).join() === 'B');
  await offers.replaceOne({ _id: two }, { account: account.ref, title: 'D' });
  await eventually(async () => (await numbers()).join() === 'D');
  await eventually(async () => (await scene.sentOffers.countDocuments()) === 1);
  expect(scene.faults).toEqual([]);
});

test('the position is stored only once the gateway has answered, so that what was not stored is sent by the next process', async () => {
  const { offers, account } = scene;
  const first = await running();
  await first.stop();
  const before = await hasPosition();
  await offers.insertOne({ account: account.ref, title: 'A' });
  const nowhere = scene.open({ gateway: { url: 'http://127.0.0.1:9', token: 'x' } });
  void nowhere.run();
  await eventually(() => scene.retries.length > 0);
  await nowhere.stop();
  expect(await hasPosition()).toEqual(before);
  await running();
  await eventually(async () => (await numbers()).join() === 'A');
  await eventually(async () => JSON.stringify(await hasPosition()) !== JSON.stringify(before));
});

test('a document that the gateway refuses, or that cannot be mapped, goes to onFault and holds up nobody; null deletes', async () => {
  const { offers, account, faults } = scene;
  await running();
  const all = Array.from({ length: 40 }, (_, at) => ({
    _id: at,
    account: account.ref,
    title: `N${String(at).padStart(2, '0')}`,
  }));
  for (const one of all) await offers.insertOne(one._id % 10 === 3 ? { ...one, title: '' } : one);
  await eventually(async () => (await numbers()).length === 36);
  await eventually(() => faults.length === 4);
  expect(faults[0]).toMatchObject({ collection: 'offers', id: 3, organisation: account.ref, external_ref: '3' });
  expect(faults.map(({ errors }) => errors[0]!.pointer)).toEqual(Array(4).fill('/put/number'));
  await offers.updateOne({ _id: 3 }, { $set: { title: 'N03' } });
  await offers.updateOne({ _id: 4 }, { $set: { state: 'broken' } });
  await offers.updateOne({ _id: 5 }, { $set: { state: 'hidden' } });
  await eventually(async () => (await numbers()).includes('N03') && !(await numbers()).includes('N05'));
  expect(await numbers()).toContain('N04');
  expect(faults.at(-1)).toMatchObject({ id: 4, errors: [{ code: 'map', detail: 'no such state' }] });
});

test('a document that moves to another account, or gets another external_ref, leaves where it was', async () => {
  const { offers, people, account, newAccount, rows } = scene;
  const other = await newAccount();
  await offers.insertOne({ _id: 1, account: account.ref, title: 'A' });
  await people.insertOne({ _id: 1, account: account.ref, name: 'Ann', code: 'c-1' });
  await running();
  await offers.updateOne({ _id: 1 }, { $set: { account: other.ref } });
  await people.updateOne({ _id: 1 }, { $set: { code: 'c-2' } });
  await eventually(async () => (await numbers()).length === 0 && (await numbers(other)).length === 1);
  await eventually(
    async () => (await rows('customers')).map(({ external_ref }) => external_ref as string).join() === 'c-2',
  );
  await offers.deleteOne({ _id: 1 });
  await eventually(async () => (await numbers(other)).length === 0);
});

test('what refers to an object that is sent after it is stored, too; a reference to nothing is a fault', async () => {
  const { offers, people, account, faults } = scene;
  const first = await running();
  await first.stop();
  await offers.insertOne({ _id: 1, account: account.ref, title: 'A', person: 7 });
  await offers.insertOne({ _id: 2, account: account.ref, title: 'B', person: 8 });
  await people.insertOne({ _id: 7, account: account.ref, name: 'Ann' });
  await running();
  await eventually(() => faults.length === 1);
  expect(await numbers()).toEqual(['A']);
  expect(faults).toMatchObject([{ id: 2, errors: [{ code: 'not_found', pointer: '/put/customer_ref' }] }]);
});

test('more elements that wait for others than the gateway lists faults of are stored, too', async () => {
  const { offers, people, account, faults } = scene;
  const ids = Array.from({ length: 130 }, (_, at) => at);
  await offers.insertMany(ids.map((_id) => ({ _id, account: account.ref, title: `N${String(_id)}`, person: _id })));
  await people.insertMany(ids.map((_id) => ({ _id, account: account.ref, name: 'Ann' })));
  const backfill = scene.open({ sources: [...SOURCES].reverse() }).backfill();
  expect([await backfill, faults]).toMatchObject([{ created: 2 * ids.length, failed: 0 }, []]);
});

test('an organisation that is away holds up its own objects alone, which onRetry tells, and gets them once it is back', async () => {
  const { offers, account, newAccount } = scene;
  const other = await newAccount();
  await running();
  const before = await hasPosition();
  const organisations = bare.db(gateway.databases.control.name).collection<{ _id: string }>('organisations');
  const move = { to: 'b', mover: 'm', begun_at: new Date(), seen_at: new Date() };
  await organisations.updateOne({ _id: other.id }, { $set: { move } });
  await offers.insertOne({ account: other.ref, title: 'A' });
  await offers.insertOne({ account: account.ref, title: 'B' });
  await eventually(async () => (await numbers()).join() === 'B');
  await offers.insertOne({ account: account.ref, title: 'C' });
  await eventually(async () => (await numbers()).join() === 'B,C');
  expect([await numbers(other), await hasPosition()]).toEqual([[], before]);
  const { message, cause } = scene.retries[0] as Error;
  expect(message).toMatch(
    new RegExp(`^offers \\w+ of organisation ${other.ref} is not stored yet, unavailable: .*moved`),
  );
  expect(cause).toMatchObject({ collection: 'offers', organisation: other.ref, errors: [{ code: 'unavailable' }] });
  await organisations.updateOne({ _id: other.id }, { $unset: { move: 1 } });
  await eventually(async () => (await numbers(other)).join() === 'A');
  expect(scene.faults).toEqual([]);
});

test('two at once, and a backfill beside them, change nothing that is newer', async () => {
  const { offers, account, faults } = scene;
  await running();
  await running();
  let backfill: Promise<unknown> | undefined;
  for (let at = 0; at < 60; at += 1) {
    await offers.updateOne(
      { _id: at % 7 },
      { $set: { account: account.ref, title: `N${String(at)}` } },
      { upsert: true },
    );
    if (at % 11 === 5) await offers.deleteOne({ _id: at % 7 });
    if (at === 30) backfill = scene.open().backfill();
  }
  const expected = (await offers.find().toArray())
    .map(({ title }) => title as string)
    .sort()
    .join();
  await backfill;
  await eventually(async () => (await numbers()).join() === expected);
  expect(faults).toEqual([]);
});

test('a position that is no longer in the log sends everything again, and deletes what is missing', async () => {
  const { offers, account, positions, retries } = scene;
  const first = await running();
  await offers.insertMany([1, 2].map((_id) => ({ _id, account: account.ref, title: `N${String(_id)}` })));
  await eventually(async () => (await numbers()).length === 2);
  await first.stop();
  await offers.deleteOne({ _id: 1 });
  await offers.insertOne({ _id: 3, account: account.ref, title: 'N3' });
  await positions.updateOne({ _id: 'position' }, { $set: { token: { _data: '8201000000000000012B0229296E04' } } });
  void scene.open().run();
  await eventually(async () => (await numbers()).join() === 'N2,N3');
  expect(retries).toHaveLength(1);
});

test('reconcile counts what is missing, and deletes it if asked; a backfill says how far it is and repeats without a change', async () => {
  const { offers, account } = scene;
  await offers.insertMany(Array.from({ length: 1010 }, (_, at) => ({ account: account.ref, title: `N${String(at)}` })));
  const opened = scene.open();
  const seen: number[] = [];
  const report = await opened.backfill({ onProgress: ({ done, total }) => seen.push(done, total) });
  expect([report.created, report.failed, seen.slice(-4)]).toEqual([1010, 0, [1000, 1010, 1010, 1010]]);
  await offers.deleteMany({ title: /^N.$/ });
  expect(await opened.reconcile()).toMatchObject({ unchanged: 1000, missing: 10, deleted: 0 });
  expect(await opened.reconcile({ deleteMissing: true })).toMatchObject({ unchanged: 1000, missing: 10, deleted: 10 });
  expect(await opened.reconcile()).toMatchObject({ unchanged: 1000, missing: 0 });
  expect(await numbers()).toHaveLength(1000);
});

test('a backfill can be of some collections and of what matches; the account may be looked up', async () => {
  const { people, offers, account, database } = scene;
  await people.insertOne({ account: account.ref, name: 'Ann' });
  const accounts = database.collection<Json>('accounts');
  const { insertedId } = await accounts.insertOne({ ref: account.ref });
  await offers.insertMany(['A', 'B'].map((title) => ({ title, owner: insertedId })));
  const lookedUp = SOURCES.map((source) => ({
    ...source,
    organisation: async ({ account: own, owner }: Json) => own ?? (await accounts.findOne({ _id: owner }))?.ref,
  }));
  const opened = scene.open({ sources: lookedUp });
  expect(await opened.backfill({ collections: ['offers'], filter: { title: 'A' } })).toMatchObject({ created: 1 });
  expect([await numbers(), await scene.rows('customers')]).toEqual([['A'], []]);
  expect(await opened.backfill()).toMatchObject({ created: 2, unchanged: 1 });
});

test('a backfill counts each document in one number; what cannot be mapped has its place, as far as it is known', async () => {
  const { offers, account, faults } = scene;
  const sources = SOURCES.map((source) => ({
    ...source,
    organisation: ({ account: own }: Json): unknown => {
      if (own === 'nobody') throw new Error('no such account');
      return own;
    },
    map: async (document: Json) => {
      const mapped = await source.map(document);
      const price = document.price as number;
      return mapped && { ...mapped, ...(document.price !== undefined && { total_minor: price }) };
    },
  }));
  const all = [{}, {}, { title: '' }, { state: 'broken' }, { account: 'nobody' }, { price: NaN }];
  await offers.insertMany(all.map((one, _id) => ({ _id, account: account.ref, title: `N${String(_id)}`, ...one })));
  expect(await scene.open({ sources }).backfill()).toMatchObject({ created: 2, failed: 4 });
  expect(await numbers()).toEqual(['N0', 'N1']);
  const { ref: organisation } = account;
  const codeMap = { code: 'map', pointer: '' };
  expect(faults.sort((one, other) => Number(one.id) - Number(other.id))).toEqual([
    expect.objectContaining({ id: 2, organisation, external_ref: '2' }),
    {
      collection: 'offers',
      id: 3,
      organisation,
      errors: [{ ...codeMap, detail: 'no such state' }],
      cause: expect.any(Error),
    },
    { collection: 'offers', id: 4, errors: [{ ...codeMap, detail: 'no such account' }], cause: expect.any(Error) },
    expect.objectContaining({
      id: 5,
      organisation,
      external_ref: '5',
      errors: [{ code: 'map', pointer: '/total_minor', detail: '/total_minor must be a finite number' }],
    }),
  ]);
});

test('a refused token ends run with the answer', async () => {
  const refused = scene.open({ gateway: { url: gateway.url, token: 'wrong' } });
  await scene.offers.insertOne({ account: scene.account.ref, title: 'A' });
  await expect(refused.run()).rejects.toThrow(GatewayError);
});

test('what was read before a change and is sent after it is stale', async () => {
  const { offers, account } = scene;
  await running();
  await offers.insertOne({ _id: 1, account: account.ref, title: 'A' });
  await eventually(async () => (await numbers()).join() === 'A');
  const [read, changed] = [new EventEmitter(), new EventEmitter()];
  const [isRead, isChanged] = [once(read, 'done'), once(changed, 'done')];
  const source = SOURCES.find(({ collection }) => collection === 'offers')!;
  const map: Source['map'] = async (document) => {
    read.emit('done');
    await isChanged;
    return source.map(document);
  };
  const backfill = scene.open({ sources: [{ ...source, map }] }).backfill();
  await isRead;
  await offers.updateOne({ _id: 1 }, { $set: { title: 'B' } });
  await eventually(async () => (await numbers()).join() === 'B');
  changed.emit('done');
  expect(await backfill).toMatchObject({ stale: 1, updated: 0 });
  expect(await numbers()).toEqual(['B']);
});
