import { type Availability, createAvailability } from '../../src/database/availability';

let isThere: Record<string, boolean>;
let asked: string[];
let changes: [string, boolean][];
let writes: Record<string, Promise<unknown>>;
let written: [string, unknown][];
let availability: Availability;

beforeEach(async () => {
  jest.useFakeTimers();
  [isThere, asked, changes] = [{ one: true, two: true }, [], []];
  [writes, written] = [{}, []];
  availability = createAvailability({
    clusters: ['one', 'two'],
    away: new Set(),
    answers: (cluster) => {
      asked.push(cluster);
      return Promise.resolve(isThere[cluster] === true);
    },
    onChange: (cluster, isAway) => changes.push([cluster, isAway]),
    write: (cluster) => writes[cluster] ?? Promise.resolve(),
    onWrites: (cluster, failure) => written.push([cluster, failure]),
  });
  await availability.start();
});
afterEach(() => {
  availability.stop();
  jest.useRealTimers();
});

test('a cluster that goes down or recovers is noticed within seconds, without a request, and reported once', async () => {
  isThere.two = false;
  await jest.advanceTimersByTimeAsync(6000);
  expect(availability.isAway('two')).toBe(true);
  expect(availability.isAway('one')).toBe(false);
  isThere.two = true;
  await jest.advanceTimersByTimeAsync(300);
  expect(availability.isAway('two')).toBe(false);
  expect(changes).toEqual([
    ['two', true],
    ['two', false],
  ]);
});

test('a cluster has one timer, however often its state is read', async () => {
  await Promise.all(Array.from({ length: 100 }, () => availability.ask('one')));
  asked = [];
  await jest.advanceTimersByTimeAsync(5100);
  expect(asked.sort()).toEqual(['one', 'two']);
  // and one for writes
  expect(jest.getTimerCount()).toBe(4);
});

test.each<[string, () => Promise<unknown>]>([
  ['refuses them', () => Promise.reject(new Error('no space left'))],
  ['does not answer them', () => new Promise(() => undefined)],
])('a cluster that responds but %s is read-only within 20 s, and reported once', async (_what, fail) => {
  writes.two = fail();
  writes.two.catch(() => undefined);
  await jest.advanceTimersByTimeAsync(20_000);
  expect([availability.isReadOnly('two'), availability.isReadOnly('one')]).toEqual([true, false]);
  expect(availability.isAway('two')).toBe(false);
  expect(written).toEqual([['two', expect.any(Error)]]);
});

test('a cluster that can be written to again is noticed within seconds', async () => {
  writes.two = Promise.reject(new Error('no space left'));
  await jest.advanceTimersByTimeAsync(20_000);
  delete writes.two;
  await jest.advanceTimersByTimeAsync(2000);
  expect(availability.isReadOnly('two')).toBe(false);
  expect(written.map(([, failure]) => failure === undefined)).toEqual([false, true]);
});

test('a single failed write, or writes to a cluster that does not respond, mean nothing', async () => {
  writes.one = Promise.reject(new Error('not primary'));
  await jest.advanceTimersByTimeAsync(10_500);
  delete writes.one;
  [isThere.two, writes.two] = [false, Promise.reject(new Error('gone'))];
  writes.two.catch(() => undefined);
  await jest.advanceTimersByTimeAsync(20_000);
  expect(written).toEqual([]);
});

test('nothing is checked after a stop', async () => {
  availability.stop();
  asked = [];
  await jest.advanceTimersByTimeAsync(60_000);
  expect([asked, written]).toEqual([[], []]);
});
