import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import type { WaitingCaller } from '../../src/events/callers';
import type { EventRow } from '../../src/events/collection';
import type { EventPage } from '../../src/events/page';
import { createFollowing, type Following, MOST_IDLE, MOST_UNSENT } from '../../src/events/stream';
import { createReads, createWaiting } from '../../src/events/waiting';

/* Where a stream gets its events, and how many streams there may be; the rest is in test/operation/streams.system.test.ts. */

const row = (_id: string): EventRow => ({
  _id,
  type: 'quote.created',
  at: new Date(),
  object: null,
  changes: [],
  status: null,
});

/** A stream over stored rows that can be read and changed, and a record of its calls. */
function over(stored: string[], most = 2) {
  const did: string[] = [];
  let listening: Error | undefined;
  const following: Following = createFollowing({
    after: '0',
    read: (after): Promise<EventPage> => {
      did.push(`read ${after}`);
      const rows = stored.filter((id) => id > after).map(row);
      const page = rows.slice(0, most);
      return Promise.resolve({ rows: page, hasMore: rows.length > most, next: page.at(-1)?._id ?? after });
    },
    listen: () => {
      did.push('listen');
      return listening ? Promise.reject(listening) : Promise.resolve(undefined);
    },
    pay: () => {
      did.push('pay');
      return Promise.resolve();
    },
  });
  const events = following.stream[Symbol.asyncIterator]();
  const next = async (count: number): Promise<string[]> => {
    const ids: string[] = [];
    while (ids.length < count) ids.push(((await events.next()).value as EventRow)._id);
    return ids;
  };
  return { following, events, next, did, refuse: (error: Error) => (listening = error) };
}

test('a stream listens, reads pages of which all but the first cost a point, then emits new events without duplicates', async () => {
  const { following, next, did } = over(['1', '2', '3', '4', '5']);
  expect(await next(2)).toEqual(['1', '2']);
  // arrive during the read
  for (const id of ['4', '5', '6']) following.hear(row(id), 1);
  expect(await next(4)).toEqual(['3', '4', '5', '6']);
  expect(did).toEqual(['listen', 'read 0', 'pay', 'read 2', 'pay', 'read 4']);
  const later = next(1);
  await turn();
  following.hear(row('7'), 1);
  expect(await later).toEqual(['7']);
  expect(did).toHaveLength(6);
});

test('a stream that may have missed events listens again and reads on from its position, or ends if that fails', async () => {
  const stored = ['1'];
  const { following, events, next, did, refuse } = over(stored);
  await next(1);
  const second = next(1);
  await turn();
  following.hear(row('2'), 1);
  await second;
  stored.push('2', '3');
  following.catchUp();
  expect(await next(1)).toEqual(['3']);
  expect(did).toEqual(['listen', 'read 0', 'listen', 'read 2']);
  refuse(new Error('away'));
  following.catchUp();
  await expect(events.next()).rejects.toThrow('away');
  expect(following.stream.ended.aborted).toBe(true);
});

test('events that arrive during a read and do not fit in memory are read later', async () => {
  const stored = ['1', '2', '3'];
  const { following, next } = over(stored);
  await next(1);
  for (const id of ['4', '5']) {
    stored.push(id);
    following.hear(row(id), MOST_UNSENT);
  }
  expect(await next(4)).toEqual(['2', '3', '4', '5']);
});

test('unread events are buffered up to a limit and read again beyond it; a stream that is not read for seconds ends', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
  const stored: string[] = [];
  const { following, events, next } = over(stored);
  const tell = (id: string, bytes: number): void => {
    stored.push(id);
    following.hear(row(id), bytes);
  };
  const first = next(1);
  await turn();
  tell('1', MOST_UNSENT);
  await first;
  // the count restarts when it is taken
  tell('2', MOST_UNSENT);
  // a burst of any size
  for (const id of ['3', '4', '5']) tell(id, MOST_UNSENT);
  jest.advanceTimersByTime(MOST_IDLE - 1);
  expect(await next(4)).toEqual(['2', '3', '4', '5']);
  const sixth = next(1);
  await turn();
  // no event arrives
  jest.advanceTimersByTime(2 * MOST_IDLE);
  expect(following.stream.ended.aborted).toBe(false);

  for (const id of ['6', '7', '8']) tell(id, MOST_UNSENT);
  await sixth;
  jest.advanceTimersByTime(MOST_IDLE - 1);
  expect(following.stream.ended.aborted).toBe(false);
  jest.advanceTimersByTime(1);
  expect(following.stream.ended.aborted).toBe(true);
  await expect(events.next()).rejects.toMatchObject({ code: 'unavailable' });
  jest.useRealTimers();
});

test("an organisation's streams run 4 reads at a time, and a gateway's 8", async () => {
  const reads = createReads();
  const reading = new Map<string, number>();
  const ends: (() => void)[] = [];
  const all = ['a', 'b', 'c'].flatMap((organisation) =>
    Array.from({ length: 6 }, () =>
      reads(organisation, async () => {
        reading.set(organisation, (reading.get(organisation) ?? 0) + 1);
        await new Promise<void>((resolve) => ends.push(resolve));
      }),
    ),
  );
  await turn();
  expect([...reading]).toEqual([
    ['a', 4],
    ['b', 4],
  ]);
  for (let at = 0; at < all.length; at += 1) {
    ends[at]!();
    await turn();
  }
  await Promise.all(all);
  expect(reading.get('c')).toBe(6);
});

/** Waiting requests and streams of a gateway; `follow` opens a stream of a key of an organisation. */
function openWaiting(payEvery: number) {
  const streams = () => new Promise<never>(() => undefined);
  const waiting = createWaiting({ streams, logger: pino({ enabled: false }), payEvery });
  const follow = (key: string, id: string) => {
    const gone = new AbortController();
    const organisation = { id, cluster: 'default' };
    const caller = {
      address: '203.0.113.1',
      principal: { kind: 'key', key: { id: key }, organisation },
      recheck: () => Promise.resolve(organisation),
      charge: () => Promise.resolve(),
      hold: (wait: (signal: AbortSignal) => Promise<unknown>) => wait(gone.signal),
    } as unknown as WaitingCaller;
    const { ended } = waiting.follow(caller, { types: undefined, objectId: undefined }, '0', streams);
    return { ended, gone };
  };
  return { waiting, follow };
}

test('a gateway has at most 1,000 streams, and drops those whose callers leave', () => {
  const { waiting, follow } = openWaiting(1000);
  const one = (n: number) => follow(String(Math.floor(n / 10)), String(Math.floor(n / 100)));
  const streams = Array.from({ length: 1000 }, (_none, n) => one(n));
  expect(waiting.counts()).toEqual({ requests: 0, streams: 1000 });
  expect(() => one(1000)).toThrow(expect.objectContaining({ code: 'unavailable' }));
  for (const { gone } of streams) gone.abort();
  expect(waiting.counts().streams).toBe(0);
  waiting.stop();
});

test('a stream opened long after the last one of its key stays open', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  const { waiting, follow } = openWaiting(60_000);
  const first = follow('k', 'one');
  await jest.advanceTimersByTimeAsync(5000);
  first.gone.abort();
  await jest.advanceTimersByTimeAsync(40_000);
  const second = follow('k', 'one');
  await jest.advanceTimersByTimeAsync(10_000);
  expect(second.ended.aborted).toBe(false);
  waiting.stop();
  jest.useRealTimers();
});
