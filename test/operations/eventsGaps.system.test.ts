import type { mongo } from 'mongoose';
import type { LogPosition } from '../../src/mongo/changeCursor';
import { createDeploymentFeed } from '../../src/events/deploymentFeed';
import { millisecondsOf } from '../../src/events/position';
import { declareRestored } from '../../src/events/tail/lease';
import type { TailOptions } from '../../src/events/tail/tail';
import { HOUR } from '../../src/units';
import { eventually } from '../api/http/eventually';
import { LOST_POSITION } from '../support/fixtures/events';
import { eventsUpTo, type Quote, quote, SOON, useTails } from '../support/fixtures/tails';

/* What a tail records if history is lost or the database was restored, even if it fails or ends before it has. */

jest.mock('../../src/async/loop', () => jest.requireActual<object>('../support/quickLoops'));
jest.mock('../../src/mongo/lease', () => jest.requireActual<object>('../support/quickLoops'));

const { gateway, lease, row, tailsWith, gate, begin, renewed, seize, newScene, throughProxy } = useTails();

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
  expect((await eventsUpTo(last._id, read, next)).at(-1)!._id).toBe(event);
});

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
});

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
});
