import type { UsageEntry } from '../../src/organisations/keyUsage';
import { createUsageCounter } from '../../src/organisations/usageCounter';
import { organisationUsageId } from '../../src/organisations/usageUnits';

/* Counts of requests in memory, until they are written. */

const OK = { outcome: 'ok', operation: 'quotes', ms: 3 } as const;
const ERROR = { outcome: 'error', operation: 'quote', code: 'not_found', ms: 7 } as const;
const LIMITED = { outcome: 'rate_limited', operation: 'none', code: 'rate_limited', ms: 1 } as const;

const onUncounted = jest.fn();
const onError = jest.fn();
let written: UsageEntry[][];
let isAway: boolean;
const usage = {
  add: (entries: readonly UsageEntry[]) => {
    if (isAway) return Promise.reject(new Error('away'));
    written.push([...entries]);
    return Promise.resolve([]);
  },
};
const counting = (capacity?: number) =>
  createUsageCounter({ usage, now: Date.now, onError, onUncounted, ...(capacity !== undefined && { capacity }) });
const requests = () => written.flat().map((entry): [string, number] => [entry.keyId, entry.requests]);

beforeEach(() => {
  jest.useFakeTimers({ now: Date.parse('2026-11-21T10:59:59Z') });
  written = [];
  isAway = false;
  jest.clearAllMocks();
});
afterEach(() => jest.useRealTimers());

test('writes counts once a minute, by key and five minutes, and nothing if there are none', async () => {
  const counter = counting();
  counter.count(['a'], OK);
  counter.count(['a'], ERROR);
  counter.count(['b'], LIMITED);
  await jest.advanceTimersByTimeAsync(59_999);
  expect(written).toEqual([]);
  counter.count(['a'], OK);
  await jest.advanceTimersByTimeAsync(1);
  const [before, after] = [new Date('2026-11-21T10:55:00Z'), new Date('2026-11-21T11:00:00Z')];
  const entry = (keyId: string, at: Date, counts: Partial<UsageEntry>, details: Record<string, number>) => {
    const none = { requests: 1, errors: 0, rate_limited: 0, mcp: 0 };
    return { ...none, keyId, at, ...counts, details: new Map(Object.entries(details)) };
  };
  const ofA = {
    'operations.quotes.requests': 1,
    'operations.quotes.t0': 1,
    'operations.quote.requests': 1,
    'operations.quote.errors': 1,
    'operations.quote.t1': 1,
    'codes.not_found': 1,
  };
  // its duration says nothing about the operation
  const ofB = { 'operations.none.requests': 1, 'operations.none.rate_limited': 1, 'codes.rate_limited': 1 };
  expect(written).toEqual([
    [
      entry('a', before, { requests: 2, errors: 1 }, ofA),
      entry('b', before, { rate_limited: 1 }, ofB),
      entry('a', after, {}, { 'operations.quotes.requests': 1, 'operations.quotes.t0': 1 }),
    ],
  ]);
  await jest.advanceTimersByTimeAsync(600_000);
  expect(written).toHaveLength(1);
  await counter.stop();
});

test('keeps counts that could not be written, adds to them, and reports the error', async () => {
  const counter = counting();
  counter.count(['a'], OK);
  isAway = true;
  await jest.advanceTimersByTimeAsync(60_000);
  counter.count(['a'], OK);
  isAway = false;
  await counter.stop();
  expect(onError).toHaveBeenCalledTimes(1);
  expect(requests()).toEqual([
    ['a', 1],
    ['a', 1],
  ]);
  expect(written.flat().map(({ details }) => details?.get('operations.quotes.requests'))).toEqual([1, 1]);
});

test('holds no more keys and details than its capacity, and reports which requests it did not count', async () => {
  const counter = counting(3);
  for (let key = 0; key < 10; key += 1) counter.count([String(key)], OK);
  counter.count(['9', organisationUsageId('A')], OK);
  for (let one = 0; one < 100; one += 1) counter.count(['0'], { ...OK, operation: `operation${String(one)}` });
  await counter.stop();
  expect(requests()).toEqual([
    ['0', 101],
    ['1', 1],
    ['2', 1],
  ]);
  expect(written.flat().reduce((sum, { details }) => sum + (details?.size ?? 0), 0)).toBe(18);
  expect(onUncounted.mock.calls).toEqual([[8]]);
});

test('writes at once when full, so a database that keeps up can take any number of keys', async () => {
  const counter = counting(3);
  for (let key = 0; key < 100; key += 1) {
    counter.count([String(key)], OK);
    // requests come one after another
    await jest.advanceTimersByTimeAsync(0);
  }
  await counter.stop();
  expect(requests()).toHaveLength(100);
  expect(onUncounted).not.toHaveBeenCalled();
});

test('reports a request once that was stored in no unit and has no room any more', async () => {
  const units = ['five_minutes', 'hour', 'day'] as const;
  const add = (entries: readonly UsageEntry[]) => {
    if (entries[0]?.keyId !== 'a') return Promise.resolve([]);
    // takes the room of what could not be stored
    counter.count(['b'], OK);
    return Promise.resolve(entries.flatMap((entry) => units.map((unit) => ({ ...entry, units: [unit] }))));
  };
  const counter = createUsageCounter({ usage: { add }, now: Date.now, onError, onUncounted, capacity: 1 });
  counter.count(['a'], OK);
  await counter.stop();
  await counter.stop();
  expect(onUncounted.mock.calls).toEqual([[1]]);
});

test('does not retry at once when it is full and the database is down', async () => {
  const counter = counting(3);
  isAway = true;
  for (let key = 0; key < 3; key += 1) counter.count([String(key)], OK);
  await jest.advanceTimersByTimeAsync(30_000);
  expect(onError).toHaveBeenCalledTimes(1);
  counter.count(['3'], OK);
  isAway = false;
  await jest.advanceTimersByTimeAsync(60_000);
  expect(requests()).toHaveLength(3);
  expect(onUncounted.mock.calls).toEqual([[1]]);
  await counter.stop();
});
