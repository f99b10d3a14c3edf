import { randomUUID } from 'node:crypto';
import type { mongo } from 'mongoose';
import { pino } from 'pino';
import type { LogPosition } from '../../src/mongo/changeCursor';
import { createDeploymentFeed } from '../../src/events/deploymentFeed';
import { timeDigits } from '../../src/events/position';
import type { Change } from '../../src/events/tail/changes';
import type { Tail, TailOptions } from '../../src/events/tail/tail';
import { HOUR } from '../../src/units';
import { eventually } from '../api/http/eventually';
import type { Json } from '../support/client';
import { eventsUpTo, quote, SOON, useTails } from '../support/fixtures/tails';

/*
 * What a tail leaves behind if it or its stream ends in the middle of its work, and what the next one makes of it. Lost history is in
 * eventsGaps.system.test.ts.
 */

jest.mock('../../src/async/loop', () => jest.requireActual<object>('../support/quickLoops'));
jest.mock('../../src/mongo/lease', () => jest.requireActual<object>('../support/quickLoops'));

const { gateway, bare, row, tailsWith, gate, begin, renewed, seize, newScene, throughProxy, withLateLog } = useTails();

const isTailing = (tails: Tail): Promise<true> => eventually(() => tails.state().isTailing || undefined, SOON);

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
});

test('a row of the audit log that lacks what its line has is logged by its id, and holds up neither the others nor events', async () => {
  const { quotes, told } = await newScene();
  const lines: Json[] = [];
  await begin(tailsWith({ logger: pino({}, { write: (line) => void lines.push(JSON.parse(line)) }) }));
  const row = (action: string, more: object) => ({ _id: randomUUID(), at: new Date(), action, key_id: null, ...more });
  const actor = { who: 'cli:test', from: 'cli' };
  const rows = [
    row('key.revoked', { actor }),
    row('key.revoked', { details: {} }),
    row('key.updated', { actor, details: { to: 'all' } }),
    row('key.revoked', { actor, details: { reason: 'leaked' } }),
  ];
  await gateway.databases.control.collection<{ _id: string }>('audit_events').insertMany(rows);
  const written = quote();
  await quotes.insertOne(written);
  await told(written._id, 'quote.created');
  const faults = ['details', 'actor', 'details.to'].map((member, at) => [rows[at]!._id, `${member} is no object`]);
  expect(lines.filter(({ level }) => level === 50).map((line) => [line.audit_event, line.error.message])).toEqual(
    faults,
  );
  const audited = lines.filter(({ msg }) => msg === 'audit event');
  expect(audited.map(({ details }) => details as unknown)).toEqual([{ reason: 'leaked' }]);
});

/** The databases, which say of changes of some rows that they have one time, as MongoDB does of a transaction; SecantusDB gives each its own. */
function atOneTime(ids: ReadonlySet<unknown>) {
  let clusterTime: mongo.Timestamp | undefined;
  const within = ({ documentKey }: Change): boolean => ids.has(documentKey?._id);
  return throughProxy((batch) => ({
    batch: batch.map((one) => (within(one) ? { ...one, clusterTime: (clusterTime ??= one.clusterTime) } : one)),
  }));
}

test('a tail keeps its lease while the server looks for the next change, and can be stopped meanwhile', async () => {
  const { wait, called } = gate();
  const { quotes, told } = await newScene();
  const slow = tailsWith({ databases: await withLateLog(wait) });
  slow.start();
  await called(1);
  const { holder } = await row();
  await renewed();
  await renewed();
  expect((await row()).holder).toBe(holder);
  await slow.stop();
  await seize(0);
  await begin(tailsWith());
  const written = quote();
  await quotes.insertOne(written);
  await told(written._id, 'quote.created');
});

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
});

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
  const found = await eventsUpTo(written._id, read, page.next);
  expect(found.map(({ object }) => object?.id)).toEqual([written._id]);
});

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
});

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
});

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
});
