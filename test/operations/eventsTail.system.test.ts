import { randomUUID } from 'node:crypto';
import type { mongo } from 'mongoose';
import { pino } from 'pino';
import { documentOf, openDatabaseProxy, replyWith } from '../../faults/databaseProxy';
import type { LogPosition } from '../../src/mongo/changeCursor';
import { databaseName } from '../../src/mongo/databaseNames';
import { createDeploymentFeed } from '../../src/events/deploymentFeed';
import { type EventRow, events } from '../../src/events/collection';
import { millisecondsOf, timeDigits } from '../../src/events/position';
import type { Change } from '../../src/events/tail/changes';
import { corrector } from '../../src/resources/corrector';
import { createTail, type Tail, type TailOptions } from '../../src/events/tail/tail';
import { declareRestored, type TailRow, tailRows } from '../../src/events/tail/lease';
import { eventually } from '../api/http/eventually';
import { LOST_POSITION } from '../support/fixtures/events';
import { makeOrganisation } from '../support/factories';
import { driver, late, served, startGateway } from '../support/gateway';

/* What a tail leaves behind if it ends in the middle of its work, and what the next one makes of it. */

jest.mock('../../src/async/loop', () => jest.requireActual<object>('../support/quickLoops'));
jest.mock('../../src/mongo/lease', () => jest.requireActual<object>('../support/quickLoops'));

const SOON = 30_000;
const HOUR = 3_600_000;

const CONTROL_DATABASE = `scopegate_tail_${randomUUID().slice(0, 8)}`;
const gateway = served({ CONTROL_DATABASE });
afterAll(() => bare.db(CONTROL_DATABASE).dropDatabase());
const bare = driver();
const lease: mongo.Collection<TailRow> = late(() => Promise.resolve(tailRows(bare, CONTROL_DATABASE)));
const running: Tail[] = [];
const proxied: (() => Promise<void>)[] = [];
/** Ends what is on hold. */
const held: (() => void)[] = [];

beforeEach(() => lease.deleteMany({}));
afterEach(async () => {
  for (const end of held.splice(0)) end();
  await Promise.all(running.splice(0).map((tails) => tails.stop()));
  await Promise.all(proxied.splice(0).map((close) => close()));
});

const nothing = (): void => undefined;

/** Tails like those of a gateway. */
function tailsWith(more: Partial<TailOptions> = {}): Tail {
  const { databases, control } = gateway;
  const tails = createTail({
    databases,
    corrector,
    feeds: control.feeds,
    onWritten: nothing,
    onBegun: () => Promise.resolve(),
    onStored: () => Promise.resolve(),
    onRestored: nothing,
    logger: pino({ enabled: false }),
    ...more,
  });
  running.push(tails);
  return tails;
}

/** Calls that wait until the test ends them, one by one. */
function gate() {
  const calls: (() => void)[] = [];
  let isOpen = false;
  held.push(() => {
    isOpen = true;
    for (const end of calls) end();
  });
  const wait = (): Promise<void> => (isOpen ? Promise.resolve() : new Promise((resolve) => calls.push(resolve)));
  return { calls, wait, called: (times: number) => eventually(() => calls.length >= times, SOON) };
}

const isTailing = (tails: Tail): Promise<true> => eventually(() => tails.state().isTailing || undefined, SOON);
const row = async (): Promise<TailRow> => (await lease.findOne({ _id: 'tail' }))!;

/** Starts tails on a database that had none, which records from then on. */
async function begin(tails: Tail): Promise<void> {
  tails.start();
  await eventually(async () => (await lease.findOne({ _id: 'tail' }))?.token, SOON);
}

/** Waits until a tail has saved its progress twice. */
async function renewed(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) {
    const { until } = await row();
    await eventually(async () => (await row()).until > until, SOON);
  }
}

/** Takes the lease away, and leaves it without a holder for a time in milliseconds. */
const seize = (ms: number): Promise<unknown> =>
  lease.updateOne({ _id: 'tail' }, { $set: { holder: 'nobody', until: new Date(Date.now() + ms) } });

interface Quote {
  readonly number: string;
  readonly _id: string;
  readonly status: string;
  readonly currency?: string;
}

async function newScene() {
  const { id } = await makeOrganisation(gateway);
  const db = bare.db(databaseName(id));
  const stored = db.collection<EventRow>(events.name);
  return {
    quotes: db.collection<Quote>('quotes'),
    stored,
    all: () => stored.find({}, { sort: { _id: 1 } }).toArray(),
    /** The last event of an object, once it has one of a type. */
    told: (id: string, type: string) =>
      eventually(() => stored.findOne({ 'object.id': id, type }, { sort: { _id: -1 } }), SOON),
  };
}

/** With a number, which is unique once a gateway writes to the collection. */
const quote = (status = 'draft'): Quote => ({ _id: randomUUID(), number: randomUUID(), status });

test('progress is saved only after events are stored and webhooks notified', async () => {
  const { quotes, told } = await newScene();
  const telling = gate();
  await begin(tailsWith({ onStored: telling.wait }));
  await quotes.insertOne(quote());
  await telling.called(1);
  // changes in the meantime form one batch, in which one time has ended and the next has begun
  const next = [quote(), quote()];
  for (const one of next) await quotes.insertOne(one);
  telling.calls[0]!();
  await telling.called(2);
  await renewed();
  const { _id: first } = await told(next[0]!._id, 'quote.created');
  const { at } = await row();
  expect(first.slice(4, 20) > timeDigits(at!)).toBe(true);
}, 120_000);

interface Batches {
  readonly id?: unknown;
  readonly firstBatch?: readonly Change[];
  readonly nextBatch?: readonly Change[];
}

/** The databases behind a proxy that changes replies with changes. */
async function throughProxy(
  alter: (batch: readonly Change[]) => { batch: readonly object[]; isEnd?: boolean; isLost?: boolean },
) {
  const closed = new Set<string>();
  const proxy = await openDatabaseProxy(process.env.TEST_MONGODB_URI!, {
    onReply: (reply, command) => {
      if (closed.has(String(command?.getMore)))
        return replyWith(reply, { ok: 0, code: 43, errmsg: 'cursor not found' });
      // MongoDB goes on after the end of a stream only with startAfter
      if (JSON.stringify(command?.pipeline ?? []).includes('resumeAfter'))
        return replyWith(reply, {
          ok: 0,
          code: 260,
          codeName: 'InvalidResumeToken',
          errmsg: 'not after an invalidate',
        });
      const { firstBatch, nextBatch, ...cursor } = (documentOf(reply)?.cursor ?? {}) as Batches;
      const found = [...(firstBatch ?? []), ...(nextBatch ?? [])];
      if (!found.some((one) => 'clusterTime' in one)) return reply;
      const { batch, isEnd, isLost } = alter(found);
      if (isLost) return replyWith(reply, { ok: 0, code: 286, errmsg: 'resume of change stream was not possible' });
      if (isEnd) closed.add(String(cursor.id));
      return replyWith(reply, { cursor: { ...cursor, [firstBatch ? 'firstBatch' : 'nextBatch']: batch } });
    },
  });
  const own = await startGateway({ CONTROL_DATABASE, MONGODB_URI: proxy.uri });
  await lease.deleteMany({});
  proxied.push(async () => {
    await own.stop();
    await proxy.close();
  });
  return own.databases;
}

/** The databases, which say of changes of some rows that they have one time, as MongoDB does of a transaction; SecantusDB gives each its own. */
function atOneTime(ids: ReadonlySet<unknown>) {
  let clusterTime: mongo.Timestamp | undefined;
  const within = ({ documentKey }: Change): boolean => ids.has(documentKey?._id);
  return throughProxy((batch) => ({
    batch: batch.map((one) => (within(one) ? { ...one, clusterTime: (clusterTime ??= one.clusterTime) } : one)),
  }));
}

test('a stream that the server ends goes on after its end', async () => {
  const { quotes, told } = await newScene();
  const [first, second] = [quote(), quote()];
  let ends = 0;
  const databases = await throughProxy((batch) => {
    const at = batch.findIndex(
      ({ documentKey, operationType }) => documentKey?._id === first._id && operationType === 'insert',
    );
    const { _id, clusterTime, wallTime } = batch[at] ?? {};
    // a stream that does not begin after the end meets it again
    if (at === -1) return { batch };
    ends += 1;
    const end = { _id, clusterTime, wallTime, operationType: 'invalidate' };
    return { batch: [...batch.slice(0, at + 1), end], isEnd: true };
  });
  await begin(tailsWith({ databases }));
  await quotes.insertOne(first);
  await told(first._id, 'quote.created');
  await quotes.insertOne(second);
  await told(second._id, 'quote.created');
  expect(ends).toBe(1);
}, 120_000);

test('a read of all organisations’ events whose stream the server ends goes on in the next read', async () => {
  const { quotes, told } = await newScene();
  let ends = 0;
  const databases = await throughProxy((batch) => {
    const [{ _id, clusterTime } = {}] = batch;
    ends += 1;
    return ends > 1 ? { batch } : { batch: [{ _id, clusterTime, operationType: 'invalidate' }], isEnd: true };
  });
  const feed = createDeploymentFeed(databases);
  const read = (from?: LogPosition) => feed.read(from, { types: undefined, organisationId: undefined }, 10, 2000);
  await begin(tailsWith());
  let page = await read();
  while (ends === 0) page = await read(page.next);
  expect(page).toMatchObject({ events: [], hasMore: true });
  const written = quote();
  await quotes.insertOne(written);
  await told(written._id, 'quote.created');
  const { events: found } = await read(page.next);
  expect(found.map(({ row: { object } }) => object?.id)).toEqual([written._id]);
}, 60_000);

test('history that a server misses only while it reads is a gap, or 410 for reads of all organisations’ events', async () => {
  const { quotes, stored, told } = await newScene();
  const [lost, last] = [quote(), quote()];
  let isLosing = true;
  const databases = await throughProxy((batch) => {
    const isLost = isLosing && batch.some(({ documentKey }) => documentKey?._id === lost._id);
    if (isLost) isLosing = false;
    return { batch, isLost };
  });
  await begin(tailsWith({ databases }));
  const feed = createDeploymentFeed(databases);
  const read = (from?: LogPosition) => feed.read(from, { types: undefined, organisationId: undefined }, 10, 2000);
  const { next } = await read();
  await quotes.insertOne(lost);
  const { gap } = await eventually(() => stored.findOne({ type: 'feed.gap' }), SOON);
  expect(gap!.to.getTime()).toBeGreaterThanOrEqual(gap!.from.getTime());
  expect(gap!.from.getTime()).toBeGreaterThan(Date.now() - HOUR);
  await quotes.insertOne(last);
  const { _id: event } = await told(last._id, 'quote.created');
  expect(await stored.countDocuments({ 'object.id': lost._id })).toBe(0);
  const losing = createDeploymentFeed(await throughProxy((batch) => ({ batch, isLost: true })));
  await expect(losing.read(next, { types: undefined, organisationId: undefined }, 10, 2000)).rejects.toMatchObject({
    code: 'cursor_expired',
  });
  expect((await read(next)).events.at(-1)?.row._id).toBe(event);
}, 60_000);

test('a tail that stops in the middle of a transaction is resumed at its beginning, and each change is one event', async () => {
  const { quotes, all, stored, told } = await newScene();
  const rows = Array.from({ length: 1200 }, () => quote());
  const databases = await atOneTime(new Set(rows.map(({ _id }) => _id)));
  const telling = gate();
  const first = tailsWith({ databases, onStored: telling.wait });
  await begin(first);
  await bare.withSession((session) =>
    session.withTransaction(() => quotes.insertMany(rows, { session }).then(() => undefined)),
  );
  await telling.called(1);
  // a part of it is stored
  const part = await stored.countDocuments();
  expect(part).toBeGreaterThan(0);
  expect(part).toBeLessThan(rows.length);
  const stopped = first.stop();
  telling.calls[0]!();
  await stopped;
  const second = tailsWith({ databases });
  second.start();
  const last = quote();
  await quotes.insertOne(last);
  await told(last._id, 'quote.created');
  const found = await all();
  expect(found.map(({ object }) => object?.id)).toEqual([...rows, last].map(({ _id }) => _id));
  expect(new Set(found.slice(0, -1).map(({ _id }) => _id.slice(4, 20))).size).toBe(1);
  await second.stop();
}, 120_000);

test('on a sharded cluster, a tail that stops at its own renewal reads changes of other shards at that time later', async () => {
  const { quotes, all, told } = await newScene();
  const [before, after] = [quote(), quote()];
  let time: mongo.Timestamp | undefined;
  let last: Change | undefined;
  // from the first quote to the second, everything has one time
  const proxied = await throughProxy((batch) => ({
    batch: batch.map((one) => {
      if (one.documentKey?._id === before._id) time ??= one.clusterTime;
      const changed = { ...one, clusterTime: last ? one.clusterTime : (time ?? one.clusterTime) };
      if (one.documentKey?._id === after._id) last = one;
      return changed;
    }),
  }));
  const databases = { ...proxied, shards: {} as NonNullable<TailOptions['databases']['shards']> };
  const first = tailsWith({ databases });
  await begin(first);
  await quotes.insertOne(before);
  const { _id: recorded } = await told(before._id, 'quote.created');
  await renewed();
  await first.stop();
  expect(timeDigits((await row()).at!) < recorded.slice(4, 20)).toBe(true);
  await quotes.insertOne(after);
  const second = tailsWith({ databases });
  second.start();
  await told(after._id, 'quote.created');
  expect((await all()).map(({ object }) => object?.id)).toEqual([before._id, after._id]);
  await second.stop();
}, 120_000);

/** A tail records until an object was stored, and then the log no longer goes back to where it stopped. */
async function loseHistory(quotes: mongo.Collection<Quote>): Promise<void> {
  const before = tailsWith();
  await begin(before);
  await quotes.insertOne(quote());
  await before.stop();
  await lease.updateOne({ _id: 'tail' }, { $set: LOST_POSITION });
}

test('if a tail dies before recording a gap it found, the next one records it', async () => {
  const { quotes, stored } = await newScene();
  await loseHistory(quotes);
  const { feeds } = gateway.control;
  const looking = gate();
  const slow = { ...feeds, of: (ids: readonly string[]) => looking.wait().then(() => feeds.of(ids)) };
  tailsWith({ feeds: slow }).start();
  await looking.called(1);
  await renewed();
  expect(await stored.countDocuments({ type: 'feed.gap' })).toBe(0);
  // as if it had died by now
  await seize(-1);
  tailsWith().start();
  const { gap } = await eventually(() => stored.findOne({ type: 'feed.gap' }), SOON);
  expect(gap!.from).toEqual(new Date(1_600_000_000_000));
}, 120_000);

const fail = () => Promise.reject(new Error('not now'));

test.each<[string, () => Partial<TailOptions>]>([
  ['record a gap it found', () => ({ feeds: { ...gateway.control.feeds, of: fail } })],
  ['begin', () => ({ onBegun: fail })],
])(
  'a tail that cannot %s frees the lease and stores no progress, and the next one records the gap',
  async (_what, failing) => {
    const { quotes, stored } = await newScene();
    await loseHistory(quotes);
    const failed = tailsWith(failing());
    failed.start();
    await eventually(async () => (await row()).generation > 1 && (await row()).holder === null, SOON);
    await failed.stop();
    expect(await row()).toMatchObject({ ...LOST_POSITION, holder: null, until: new Date(0) });
    tailsWith().start();
    const { gap } = await eventually(() => stored.findOne({ type: 'feed.gap' }), SOON);
    expect(gap!.from).toEqual(new Date(1_600_000_000_000));
  },
  120_000,
);

test('the gap of a restore comes after whatever the log has from before it, once', async () => {
  const { quotes, stored } = await newScene();
  const tails = tailsWith();
  await begin(tails);
  await quotes.insertOne(quote());
  // as if the log had seconds from before the restore
  const at = new Date(Date.now() + 2000);
  const restored = { since: new Date(0), at, by: 'cli:test', told: false };
  expect(await declareRestored(lease, restored)).toBeUndefined();
  const gap = await eventually(() => stored.findOne({ type: 'feed.gap' }), SOON);
  expect(millisecondsOf(gap._id)).toBeGreaterThanOrEqual(at.getTime() - 999);
  await eventually(async () => (await row()).restored?.told, SOON);
  expect(await declareRestored(lease, { ...restored, at: new Date() })).toMatchObject({ at, told: true });
  await renewed();
  expect(await stored.countDocuments({ type: 'feed.gap' })).toBe(1);
}, 120_000);

test('a tail that regains its lease does not rely on what it saw before, since others ran in the meantime', async () => {
  const { quotes, told } = await newScene();
  const one = quote('draft');
  const first = tailsWith();
  await begin(first);
  await quotes.insertOne(one);
  await told(one._id, 'quote.created');
  await seize(HOUR);
  await eventually(() => !first.state().isTailing, SOON);
  // only for this one has the lease expired
  const { databases } = gateway;
  const ahead = (): number => databases.now() + 2 * HOUR;
  const second = tailsWith({ databases: { ...databases, now: ahead } });
  second.start();
  await isTailing(second);
  await quotes.updateOne({ _id: one._id }, { $set: { status: 'sent' } });
  const sent = await told(one._id, 'quote.status_changed');
  expect(sent.status).toBe('sent');
  // so that the first does not read it again
  await eventually(async () => timeDigits((await row()).at!) >= sent._id.slice(4, 20), SOON);
  await second.stop();
  await isTailing(first);
  await quotes.updateOne({ _id: one._id }, { $set: { currency: 'EUR' } });
  expect(await told(one._id, 'quote.updated')).toMatchObject({ changes: ['currency'], status: 'sent' });
}, 120_000);
