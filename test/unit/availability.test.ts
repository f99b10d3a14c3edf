import { type Availability, createAvailability } from '../../src/database/availability';

let isThere: Record<string, boolean>;
let asked: string[];
let changes: [string, boolean][];
let availability: Availability;

beforeEach(async () => {
  jest.useFakeTimers();
  [isThere, asked, changes] = [{ one: true, two: true }, [], []];
  availability = createAvailability({
    clusters: ['one', 'two'],
    answers: (cluster) => {
      asked.push(cluster);
      return Promise.resolve(isThere[cluster] === true);
    },
    onChange: (cluster, isAway) => changes.push([cluster, isAway]),
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
  expect(jest.getTimerCount()).toBe(2);
});

test('nothing is checked after a stop', async () => {
  availability.stop();
  asked = [];
  await jest.advanceTimersByTimeAsync(60_000);
  expect(asked).toEqual([]);
});
