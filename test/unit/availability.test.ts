import { type Availability, createAvailability } from '../../src/mongo/availability';

let isAvailable: boolean;
let asked: number;
let changes: boolean[];
let write: Promise<unknown>;
let written: unknown[];
let availability: Availability;

beforeEach(async () => {
  jest.useFakeTimers();
  [isAvailable, asked, changes] = [true, 0, []];
  [write, written] = [Promise.resolve(), []];
  availability = createAvailability({
    answers: () => {
      asked += 1;
      return Promise.resolve(isAvailable);
    },
    onChange: (isDown) => {
      changes.push(isDown);
    },
    write: () => write,
    onWrites: (failure) => {
      written.push(failure);
    },
  });
  await availability.start();
});
afterEach(() => {
  availability.stop();
  jest.useRealTimers();
});

/** From now on, writes fail this way. */
function failing(fail: () => Promise<unknown>): void {
  write = fail();
  write.catch(() => undefined);
}

test('a database that goes down or recovers is noticed within seconds, without a request, and reported once', async () => {
  isAvailable = false;
  await jest.advanceTimersByTimeAsync(6000);
  expect(availability.isDown()).toBe(true);
  isAvailable = true;
  await jest.advanceTimersByTimeAsync(300);
  expect(availability.isDown()).toBe(false);
  expect(changes).toEqual([true, false]);
});

test('it has one timer, however often its state is read', async () => {
  await Promise.all(Array.from({ length: 100 }, () => availability.ask()));
  asked = 0;
  await jest.advanceTimersByTimeAsync(5100);
  expect(asked).toBe(1);
  // and one for writes
  expect(jest.getTimerCount()).toBe(2);
});

test.each<[string, () => Promise<unknown>]>([
  ['refuses them', () => Promise.reject(new Error('no space left'))],
  ['does not answer them', () => new Promise(() => undefined)],
])('a database that responds but %s is read-only within 20 s, and reported once', async (_what, fail) => {
  failing(fail);
  await jest.advanceTimersByTimeAsync(20_000);
  expect([availability.isReadOnly(), availability.isDown()]).toEqual([true, false]);
  expect(written).toEqual([expect.any(Error)]);
});

test('a database that can be written to again is noticed within seconds', async () => {
  failing(() => Promise.reject(new Error('no space left')));
  await jest.advanceTimersByTimeAsync(20_000);
  write = Promise.resolve();
  await jest.advanceTimersByTimeAsync(2000);
  expect(availability.isReadOnly()).toBe(false);
  expect(written.map((failure) => failure === undefined)).toEqual([false, true]);
});

test('a single failed write means nothing', async () => {
  failing(() => Promise.reject(new Error('not primary')));
  await jest.advanceTimersByTimeAsync(10_500);
  write = Promise.resolve();
  await jest.advanceTimersByTimeAsync(20_000);
  expect(written).toEqual([]);
});

test('writes to a database that does not respond mean nothing', async () => {
  isAvailable = false;
  failing(() => Promise.reject(new Error('gone')));
  await jest.advanceTimersByTimeAsync(20_000);
  expect(written).toEqual([]);
});

test('nothing is checked after a stop', async () => {
  availability.stop();
  asked = 0;
  await jest.advanceTimersByTimeAsync(60_000);
  expect([asked, written]).toEqual([0, []]);
});
