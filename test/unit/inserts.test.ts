import type { mongo } from 'mongoose';
import { createInserts } from '../../src/events/inserts';

/* How long the change stream of stored events is open. */

const SECOND = 1000;

function openInserts() {
  const close = jest.fn(() => Promise.resolve());
  const cursor = {
    once: () => undefined,
    cursorInit: () => Promise.resolve(),
    closed: false,
    tryNext: () => new Promise((resolve) => setTimeout(resolve, SECOND, null)),
    readBufferedDocuments: () => [],
  };
  const watch = jest.fn(() => ({ cursor, close }));
  const streams = jest.fn(() => Promise.resolve({ watch } as unknown as mongo.MongoClient));
  let isAwaited = true;
  const onEnd = jest.fn();
  const inserts = createInserts({
    streams,
    isAwaited: () => isAwaited,
    onInsert: jest.fn(),
    onEnd,
    onError: jest.fn(),
  });
  const leave = (): boolean => (isAwaited = false);
  return { inserts, streams, watch, close, onEnd, leave };
}

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
});
afterEach(() => {
  jest.useRealTimers();
});

test('one that could not be opened is opened by the next listener', async () => {
  const { inserts, streams, watch } = openInserts();
  streams.mockRejectedValueOnce(new Error('away'));
  await expect(inserts.listen()).rejects.toThrow('away');
  await inserts.listen();
  await inserts.listen();
  expect(watch).toHaveBeenCalledTimes(1);
  inserts.stop();
});

test('it is closed once nobody has waited for 5 s, and opened by the next listener', async () => {
  const { inserts, watch, close, onEnd, leave } = openInserts();
  await inserts.listen();
  await jest.advanceTimersByTimeAsync(20 * SECOND);
  expect(close).not.toHaveBeenCalled();
  leave();
  await jest.advanceTimersByTimeAsync(4 * SECOND);
  expect(close).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(3 * SECOND);
  expect([close.mock.calls.length, onEnd.mock.calls.length]).toEqual([1, 1]);
  await inserts.listen();
  expect(watch).toHaveBeenCalledTimes(2);
  inserts.stop();
});
