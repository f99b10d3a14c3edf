import { setImmediate as turn } from 'node:timers/promises';
import { createRecording } from '../../src/recording';
import type { DoneExchange } from '../../src/http/accessLog';

const never = new Promise<never>(() => undefined);

/** A finished request of a key. */
const done = {
  exchange: {
    ...{ request: { method: 'GET' }, path: '/api/v1/quotes', requestId: 'one', address: '::1' },
    log: { operation: 'quotes', principal: { kind: 'key', key: { id: 'k' }, organisation: { id: 'o' } } },
  },
  ...{ face: 'rest', status: 200, ms: 1 },
} as unknown as DoneExchange;

test('a database that does not respond delays shutdown by at most 3 s, which is logged', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  const warn = jest.fn();
  const control = { usage: { add: () => never }, requests: { add: () => never } };
  const metrics = { usageUncounted: jest.fn(), requestsNotLogged: jest.fn() };
  const options = { control, metrics, logger: { warn }, operations: ['quotes'], logs: true };
  const recording = createRecording(options as unknown as Parameters<typeof createRecording>[0]);
  recording.record(done);
  let isOver = false;
  const stopping = recording.stop().then(() => (isOver = true));
  await jest.advanceTimersByTimeAsync(2999);
  await turn();
  expect(isOver).toBe(false);
  await jest.advanceTimersByTimeAsync(1);
  await stopping;
  expect(warn).toHaveBeenCalledWith(expect.anything(), 'the last usage and requests of keys were not written');
  jest.useRealTimers();
});
