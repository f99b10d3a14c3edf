import { randomUUID } from 'node:crypto';
import mongoose, { type mongo } from 'mongoose';
import { pino } from 'pino';
import { type EventRow, events } from '../../src/events/collection';
import type { Change } from '../../src/events/tail/changes';
import { createOwners } from '../../src/events/tail/customers';
import { type TailRow, tailRows, takeTailLease } from '../../src/events/tail/lease';
import { BEAT_EVERY, createTail, type TailOptions } from '../../src/events/tail/tail';
import { databaseName } from '../../src/mongo/databaseNames';
import { corrector } from '../../src/resources/corrector';
import { eventually } from '../api/http/eventually';
import { makeOrganisation } from '../support/factories';
import { driver, late, served } from '../support/gateway';
import { eventRow } from '../support/fixtures/events';
import { hold } from '../support/hold';

const SOON = 30_000;
/** How many looks at the lease are timed. */
const LOOKS = 12;

const CONTROL_DATABASE = `scopegate_handover_${randomUUID().slice(0, 8)}`;
const gateway = served({ CONTROL_DATABASE });
afterAll(() => bare.db(CONTROL_DATABASE).dropDatabase());
const bare = driver();
const lease: mongo.Collection<TailRow> = late(() => Promise.resolve(tailRows(bare, CONTROL_DATABASE)));
const row = async (): Promise<TailRow> => (await lease.findOne({ _id: 'tail' }))!;

const tailOptions = (): TailOptions => ({
  databases: gateway.databases,
  corrector,
  feeds: gateway.control.feeds,
  onWritten: () => undefined,
  onStored: () => Promise.resolve(),
  onBegun: () => Promise.resolve(),
  onRestored: () => undefined,
  logger: pino({ enabled: false }),
});

test('while another gateway records events, one looks for its lease much more often than that is renewed', async () => {
  const { databases } = gateway;
  const options = tailOptions();
  await lease.deleteMany({});
  const recording = createTail(options);
  recording.start();
  await eventually(() => recording.state().isTailing, SOON);
  const looks: number[] = [];
  const now = (): number => {
    looks.push(performance.now());
    return databases.now();
  };
  const waiting = createTail({ ...options, databases: { ...databases, now } });
  waiting.start();
  await eventually(() => looks.length > LOOKS, 3 * SOON);
  await waiting.stop();
  await recording.stop();
  const waits = looks.slice(1).map((at, index) => at - looks[index]!);
  // the shortest, since a slow machine makes some longer
  expect(Math.min(...waits)).toBeLessThan(BEAT_EVERY / 2);
});

test('a lease can be taken only once it has expired, with a new generation that blocks its former holder', async () => {
  await lease.deleteMany({});
  let now = Date.now();
  const take = () => takeTailLease(lease, () => now);
  const first = await take();
  const { holder } = await row();
  expect(await row()).toMatchObject({ holder: expect.any(String), generation: 1 });
  now += 9000;
  expect(await take()).toBeUndefined();
  expect(await first!.renew({})).toMatchObject({ holder, generation: 1 });
  now += 9000;
  expect(await take()).toBeUndefined();
  now += 2000;
  const next = await take();
  expect(await first!.renew({})).toBeUndefined();
  expect(await first!.release({})).toBe(false);
  expect(await row()).toMatchObject({ generation: 2, until: new Date(now + 10_000) });
  expect((await row()).holder).not.toBe(holder);
  // a row that was restored from a backup has an earlier generation, or the same and less progress
  const at = (t: number) => new mongoose.mongo.Timestamp({ t, i: 1 });
  await next!.renew({ at: at(2000) });
  await lease.updateOne({}, { $set: { at: at(1000) } });
  expect(await next!.renew({ at: at(3000) })).toBeUndefined();
  await lease.updateOne({}, { $set: { at: at(2000), generation: 1 } });
  expect(await next!.renew({})).toBeUndefined();
});

test('whose an object was, a tail that takes over knows of one that is deleted or has another customer by the time its row is read', async () => {
  const data = gateway.databases.organisationData(await makeOrganisation(gateway));
  const db = bare.db(data.database.databaseName);
  const stored = db.collection<EventRow>(events.name);
  let at = 0;
  const store = (id: string, whose: Pick<EventRow, 'customers'>, type = 'request') =>
    stored.insertOne({ ...eventRow((at += 1), `${type}.updated`, id), ...whose });
  const [deleted, moved, freed, back] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  for (const id of [deleted, moved, freed]) await store(id, { customers: ['former'] });
  for (const customers of [['former', 'next'], ['next']]) await store(back, { customers });
  // as the rows are after the second batch of changes
  const requests = db.collection<{ _id: string; customer_id: string | null }>('requests');
  await requests.insertMany([
    { _id: moved, customer_id: 'next' },
    { _id: freed, customer_id: null },
    { _id: back, customer_id: 'next' },
  ]);
  const owners = createOwners(100);
  const record = async (...changes: readonly [operationType: string, id: string, more: Partial<Change>][]) => {
    const logged = changes.map(([operationType, _id, more]) => {
      const change = { operationType, ns: { db: db.databaseName, coll: 'requests' }, documentKey: { _id }, ...more };
      return { change: change as Change, time: '', ordinal: 1 };
    });
    const customersOf = await owners.read(data, logged, () => undefined);
    const found = logged.map(({ change }) => ({ id: change.documentKey!._id as string, whose: customersOf(change) }));
    for (const { id, whose } of found) await store(id, whose);
    return found.map(({ whose }) => whose.customers);
  };
  const named = { paths: ['title'] };
  expect(
    await record(
      ...[deleted, moved, freed, back].map((id) => ['update', id, named] as ['update', string, typeof named]),
    ),
  ).toEqual([['former'], ['next'], undefined, ['next']]);
  const set = (customer_id: string | null) => ({ paths: ['customer_id'], set: { customer_id } });
  expect(
    await record(
      ['delete', deleted, {}],
      ['update', moved, set('next')],
      ['update', freed, set(null)],
      ['update', back, set('other')],
      ['update', back, set('next')],
    ),
  ).toEqual([['former'], ['former', 'next'], ['former', null], ['next', 'other'], ['other', 'next']]);
});

test('objects of two types with one id have each its own customer', async () => {
  const data = gateway.databases.organisationData(await makeOrganisation(gateway));
  const db = bare.db(data.database.databaseName);
  const _id = randomUUID();
  const logged = await Promise.all(
    ['quotes', 'orders'].map(async (coll) => {
      await db.collection<{ _id: string; customer_id: string }>(coll).insertOne({ _id, customer_id: coll });
      const change = { operationType: 'update', ns: { db: db.databaseName, coll }, documentKey: { _id } };
      return { change: { ...change, paths: ['number'] } as unknown as Change, time: '', ordinal: 1 };
    }),
  );
  const customersOf = await createOwners(100).read(data, logged, () => undefined);
  expect(logged.map(({ change }) => customersOf(change).customers)).toEqual([['quotes'], ['orders']]);
});

test('a batch of changes to more objects than are remembered has the status of each', async () => {
  await lease.deleteMany({});
  const first = hold();
  let batches = 0;
  const onStored = (): Promise<void> => ((batches += 1) === 1 ? first.held : Promise.resolve());
  const tail = createTail({ ...tailOptions(), onStored, remembered: 1 });
  tail.start();
  await eventually(async () => (await lease.findOne({ _id: 'tail' }))?.token, SOON);
  const db = bare.db(databaseName((await makeOrganisation(gateway)).id));
  const quotes = db.collection<{ _id: string; status: string; number: string; currency?: string }>('quotes');
  const rows = ['sent', 'draft', 'sent'].map((status) => ({ _id: randomUUID(), number: randomUUID(), status }));
  await quotes.insertMany(rows);
  await eventually(() => batches === 1, SOON);
  // changes in the meantime form one batch
  for (const one of rows) await quotes.replaceOne({ _id: one._id }, { ...one, currency: 'EUR' });
  first.letGo();
  const replaced = { type: { $in: ['quote.updated', 'quote.status_changed'] } };
  const stored = () => db.collection<EventRow>(events.name).find(replaced).toArray();
  await eventually(async () => (await stored()).length === rows.length, SOON);
  expect((await stored()).map(({ type, object, status }) => [type, object?.id, status])).toEqual(
    rows.map(({ _id, status }) => ['quote.updated', _id, status]),
  );
  await tail.stop();
});
