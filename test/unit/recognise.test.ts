import { setImmediate as turn } from 'node:timers/promises';
import type { Refusal } from '../../src/auth/authenticate';
import { createBestEffortRecognise } from '../../src/auth/recognise';

/* Requests without a route cost their caller nothing, so the gateway's work for them is bounded. */

const UNKNOWN: Refusal = { reason: 'unknown' };

beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] }));
afterEach(() => jest.useRealTimers());

test('at most 20 keys a second are looked up, and none for a request without one', async () => {
  const look = jest.fn(() => Promise.resolve(UNKNOWN));
  const recognise = createBestEffortRecognise(look);
  const ask = (): Promise<unknown> => recognise('Bearer x', '192.0.2.1');
  expect(await recognise(undefined, '192.0.2.1')).toBeUndefined();
  const found = await Promise.all(Array.from({ length: 50 }, ask));
  expect(found.filter((one) => one === UNKNOWN)).toHaveLength(20);
  expect(look).toHaveBeenCalledTimes(20);
  await jest.advanceTimersByTimeAsync(1001);
  expect(await ask()).toBe(UNKNOWN);
});

test('a key whose lookup fails or takes too long is treated as unknown', async () => {
  expect(
    await createBestEffortRecognise(() => Promise.reject(new Error('away')))('Bearer x', '192.0.2.1'),
  ).toBeUndefined();
  const found = createBestEffortRecognise(() => new Promise(() => undefined))('Bearer x', '192.0.2.1');
  await turn();
  await jest.advanceTimersByTimeAsync(1500);
  await turn();
  expect(await found).toBeUndefined();
});
