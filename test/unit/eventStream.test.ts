import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import { AppError } from '../../src/errors';
import type { EventRow } from '../../src/events/collection';
import type { EventPage } from '../../src/events/page';
import { createStream, createReadLimit, MAX_IDLE, MAX_UNSENT } from '../../src/events/stream';
import { createWaiting, type WaitingCaller } from '../../src/events/waiting';

/* Where a stream gets its events, and how many streams there may be; the rest is in test/operations/streams.slow.test.ts. */

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
  const following = createStream({
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
  for (const id of ['4', '5', '6']) following.notify(row(id), 1);
  expect(await next(4)).toEqual(['3', '4', '5', '6']);
  expect(did).toEqual(['listen', 'read 0', 'pay', 'read 2', 'pay', 'read 4']);
  const later = next(1);
  await turn();
  following.notify(row('7'), 1);
  expect(await later).toEqual(['7']);
  expect(did).toHaveLength(6);
});

test('a stream that may have missed events listens again and reads on from its position, or ends if that fails', async () => {
  const stored = ['1'];
  const { following, events, next, did, refuse } = over(stored);
  await next(1);
  const second = next(1);
  await turn();
  following.notify(row('2'), 1);
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
    following.notify(row(id), MAX_UNSENT);
  }
  expect(await next(4)).toEqual(['2', '3', '4', '5']);
});

test('unread events are buffered up to a limit and read again beyond it; a stream that is not read for seconds ends', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
  const stored: string[] = [];
  const { following, events, next } = over(stored);
  const tell = (id: string, bytes: number): void => {
    stored.push(id);
    following.notify(row(id), bytes);
  };
  const first = next(1);
  await turn();
  tell('1', MAX_UNSENT);
  await first;
  // the count restarts when it is taken
  tell('2', MAX_UNSENT);
  // a burst of any size
  for (const id of ['3', '4', '5']) tell(id, MAX_UNSENT);
  // however long the caller takes over all of it
  for (const id of ['2', '3', '4', '5']) {
    jest.advanceTimersByTime(MAX_IDLE - 1);
    expect(await next(1)).toEqual([id]);
  }
  const sixth = next(1);
  await turn();
  // no event arrives
  jest.advanceTimersByTime(2 * MAX_IDLE);
  expect(following.stream.ended.aborted).toBe(false);

  for (const id of ['6', '7', '8']) tell(id, MAX_UNSENT);
  await sixth;
  jest.advanceTimersByTime(MAX_IDLE - 1);
  expect(following.stream.ended.aborted).toBe(false);
  jest.advanceTimersByTime(1);
  expect(following.stream.ended.aborted).toBe(true);
  await expect(events.next()).rejects.toMatchObject({ code: 'unavailable' });
  jest.useRealTimers();
});

test("an organisation's streams run 4 reads at a time, and a gateway's 8", async () => {
  const reads = createReadLimit();
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

const here = (): Promise<object> => Promise.resolve({});
const refused = (): Promise<never> => Promise.reject(new AppError('unauthenticated', 'The key is revoked.'));

/** Waiting requests and streams of a gateway; `follow` opens a stream of a key of an organisation, `wait` a request that waits. */
function openWaiting(payEvery: number, streams: () => Promise<never> = () => Promise.reject(new Error('away'))) {
  const waiting = createWaiting({ streams, logger: pino({ enabled: false }), payEvery });
  const wanted = { types: undefined, objectId: undefined };
  const callerOf = (key: string, id: string, recheck: () => Promise<object>, owner = id) => {
    const gone = new AbortController();
    const waitIdle = (wait: (signal: AbortSignal) => Promise<unknown>) => wait(gone.signal);
    const holder = { caller: key, organisation: owner };
    const caller = {
      organisationId: id,
      holder,
      recheck,
      charge: () => Promise.resolve(),
      waitIdle,
    } as unknown as WaitingCaller;
    return { gone, caller };
  };
  return {
    waiting,
    follow: (key: string, id: string, recheck = here, owner = id) => {
      const { gone, caller } = callerOf(key, id, recheck, owner);
      const stream = waiting.follow(caller, wanted, '0', streams);
      return { ended: stream.ended, gone, stream };
    },
    /** Resolves with how it ended. */
    wait: (recheck: () => Promise<object>, key = 'k', id = 'one', look = () => Promise.resolve(false)) =>
      waiting
        .wait(callerOf(key, id, recheck).caller, 60_000, wanted, look)
        .then(() => 'over')
        .catch((error: unknown) => (error as AppError).code),
  };
}

test('a gateway has at most 1,000 streams, and drops those whose callers leave', () => {
  const { waiting, follow } = openWaiting(1000);
  const one = (n: number) => follow(String(Math.floor(n / 10)), String(Math.floor(n / 100)));
  const streams = Array.from({ length: 1000 }, (_none, n) => one(n));
  expect(waiting.counts()).toEqual({ requests: 0, streams: 1000 });
  // its organisation already has as many as any
  expect(() => follow('more', '0')).toThrow(expect.objectContaining({ code: 'unavailable' }));
  expect(waiting.counts()).toEqual({ requests: 0, streams: 1000 });
  for (const { gone } of streams) gone.abort();
  expect(waiting.counts().streams).toBe(0);
  follow('more', '0');
  waiting.stop();
});

test('if a gateway is full, a newcomer gets the oldest place of the organisation with most, up to an equal share', async () => {
  const { waiting, follow, wait } = openWaiting(60_000);
  const keyOf = (n: number): string => String(Math.floor(n / 10));
  const oldest = wait(here, '0', 'a');
  const streams = Array.from({ length: 999 }, (_none, n) => follow(keyOf(n + 1), 'abcde'[Math.floor((n + 1) / 200)]!));
  const ended = (): number => streams.filter((stream) => stream.ended.aborted).length;
  const request = wait(here, 'new', 'f');
  // with its empty page
  expect(await oldest).toBe('over');
  expect([waiting.counts(), ended()]).toEqual([{ requests: 1, streams: 999 }, 0]);
  for (let n = 1; n < 166; n += 1) follow(`f${keyOf(n)}`, 'f');
  expect([waiting.counts(), ended()]).toEqual([{ requests: 1, streams: 999 }, 165]);
  // the oldest of each
  const isEnded = [0, 32, 33, 199, 231, 232].map((n) => streams[n]!.ended.aborted);
  expect(isEnded).toEqual([true, true, false, true, true, false]);
  await expect(streams[0]!.stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'unavailable' });
  expect(() => follow('last', 'f')).toThrow(expect.objectContaining({ code: 'unavailable' }));
  expect(() => follow('last', 'a')).toThrow(expect.objectContaining({ code: 'unavailable' }));
  waiting.stop();
  expect(await request).toBe('over');
});

test('an organisation has at most 200 together with its sandbox', () => {
  const { waiting, follow } = openWaiting(60_000);
  for (let n = 0; n < 200; n += 1) follow(String(Math.floor(n / 10)), n % 2 === 0 ? 'a' : 'test', here, 'a');
  for (const id of ['a', 'test'])
    expect(() => follow('more', id, here, 'a')).toThrow(expect.objectContaining({ code: 'unavailable' }));
  expect(waiting.counts().streams).toBe(200);
  follow('more', 'b');
  waiting.stop();
});

test('a key has at most 20 streams and waiting requests together, of which others have nothing', async () => {
  const { waiting, follow, wait } = openWaiting(60_000);
  const requests = [wait(here), wait(here)];
  for (let n = 0; n < 18; n += 1) follow('k', 'one');
  expect(() => follow('k', 'one')).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  expect(await wait(here)).toBe('rate_limited');
  follow('other', 'one');
  expect(waiting.counts()).toEqual({ requests: 2, streams: 19 });
  waiting.stop();
  expect(await Promise.all(requests)).toEqual(['over', 'over']);
});

describe('while changes cannot be followed', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] }));
  afterEach(() => jest.useRealTimers());

  test('a request that waits looks again every 2 s', async () => {
    const { waiting, wait } = openWaiting(60_000);
    let looks = 0;
    const look = jest.fn(() => Promise.resolve((looks += 1) === 3));
    const request = wait(here, 'k', 'one', look);
    await jest.advanceTimersByTimeAsync(1999);
    expect(look).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(2001);
    expect(look).toHaveBeenCalledTimes(3);
    expect(await request).toBe('over');
    waiting.stop();
  });

  test('a change stream whose first read fails is opened again after 2 s', async () => {
    const opened = jest.fn(() => turn());
    const away = () => Promise.reject(new Error('away'));
    const cursor = { closed: false, once: jest.fn(), cursorInit: opened, tryNext: () => turn().then(away) };
    const client = { watch: () => ({ cursor, close: () => Promise.resolve() }) };
    const { waiting, wait } = openWaiting(60_000, () => Promise.resolve(client as never));
    const request = wait(here);
    for (let turns = 0; turns < 50; turns += 1) await turn();
    expect(opened).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(2000);
    for (let turns = 0; turns < 50; turns += 1) await turn();
    expect(opened).toHaveBeenCalledTimes(2);
    waiting.stop();
    expect(await request).toBe('over');
  });
});

describe('the key of each request that waits and each stream', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  test('is read again every 2 s, but not while that is in progress', async () => {
    const { waiting, follow } = openWaiting(60_000);
    const [quick, slow] = [jest.fn(here), jest.fn(() => new Promise<never>(() => undefined))];
    for (const recheck of [quick, slow]) follow('k', 'one', recheck);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(quick.mock.calls.length).toBeGreaterThanOrEqual(4);
    expect(quick.mock.calls.length).toBeLessThanOrEqual(6);
    expect(slow).toHaveBeenCalledTimes(1);
    waiting.stop();
  });

  test('ends it if it is rejected, as from that address alone', async () => {
    const { waiting, follow, wait } = openWaiting(60_000);
    const streams = [here, refused].map((recheck) => follow('k', 'one', recheck));
    const requests = [here, refused].map((recheck) => wait(recheck));
    await jest.advanceTimersByTimeAsync(5000);
    expect(streams.map(({ ended }) => ended.aborted)).toEqual([false, true]);
    waiting.stop();
    expect(await Promise.all(requests)).toEqual(['over', 'unauthenticated']);
  });

  test('ends a stream once it cannot be read for 30 s; a request is left alone', async () => {
    const { waiting, follow, wait } = openWaiting(60_000);
    const away = () => Promise.reject(new AppError('unavailable', 'The database is away.', { reason: 'away' }));
    let answer: typeof here = away;
    const { ended } = follow('k', 'one', () => answer());
    const request = wait(() => answer());
    await jest.advanceTimersByTimeAsync(25_000);
    answer = here;
    await jest.advanceTimersByTimeAsync(5000);
    answer = away;
    await jest.advanceTimersByTimeAsync(25_000);
    expect(ended.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(ended.aborted).toBe(true);
    waiting.stop();
    expect(await request).toBe('over');
  });
});
