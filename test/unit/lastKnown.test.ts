import { setImmediate as turn } from 'node:timers/promises';
import { createLastKnown } from '../../src/organisations/lastKnown';
import { MINUTE } from '../../src/units';

test('metrics do not wait for a count, which is at most a minute old, and stays while the database is away', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  const counts: (() => Promise<number>)[] = [
    () => Promise.resolve(3),
    () => Promise.reject(new Error('the database is away')),
    () => Promise.resolve(5),
  ];
  const count = jest.fn(() => counts.shift()!());
  const known = createLastKnown(0, count);
  expect([known(), known()]).toEqual([0, 0]);
  await turn();
  expect([known(), known()]).toEqual([3, 3]);
  expect(count).toHaveBeenCalledTimes(1);
  jest.advanceTimersByTime(MINUTE + 1);
  expect(known()).toBe(3);
  await turn();
  expect(known()).toBe(3);
  await turn();
  expect(known()).toBe(5);
  jest.useRealTimers();
});
