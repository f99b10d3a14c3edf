import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import pino from 'pino';
import type { Exchange } from '../../src/http/exchange';
import { createRecording } from '../../src/gateway/recording';
import { operationLabel } from '../../src/metrics';
import type { UsageEntry } from '../../src/organisations/keyUsage';

type Log = Partial<Exchange['log']>;
type Options = Parameters<typeof createRecording>[0];
const CALLER = { kind: 'key', key: { id: 'k' }, organisation: { id: 'o' } } as never;
const REFUSED: Log = { code: 'unauthenticated', refusal: { reason: 'missing' } };
const SHED: Log = { code: 'unavailable', unavailable: { reason: 'shed', detail: 'Too much.' } };
const never = new Promise<never>(() => undefined);

// usage is counted in units of five minutes, of which a test must not see the end
beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'], now: Date.UTC(2026, 10, 29) }));
afterEach(() => jest.useRealTimers());

/** What usage was asked to store. */
const counted: (readonly UsageEntry[])[] = [];

function recordingTo(logger: unknown): (statusCode: number, log: Log, ms?: number) => () => Promise<void> {
  const operation = operationLabel(['quotes']);
  const metrics = new Proxy({}, { get: (_, name) => (name === 'operationLabel' ? operation : () => undefined) });
  const control = {
    usage: { add: (entries: readonly UsageEntry[]) => (counted.push(entries), never) },
    requests: { add: () => never },
    now: Date.now,
  };
  const options = { control, metrics, logger, knownKey: () => undefined, logs: true };
  const recording = createRecording(options as unknown as Options);
  return (statusCode, log, ms = 0) => {
    const response = Object.assign(new EventEmitter(), { statusCode, writableFinished: true });
    const exchange = {
      request: { method: 'GET', headers: {}, rawHeaders: [] },
      response,
      shownPath: () => '/api/v1/quotes',
      requestId: 'one',
      log,
    };
    recording.watch(exchange as unknown as Exchange, 'rest');
    jest.advanceTimersByTime(ms);
    response.emit('close');
    return () => recording.stop();
  };
}

test.each([
  [401, REFUSED, 'missing', 'requests without a valid key that have no line of their own'],
  [503, SHED, 'shed', 'requests answered with 503 that have no line of their own'],
])(
  'of the lines of %i, 100 a second are written and the rest counted; others are all written',
  (status, log, reason, msg) => {
    const lines: Record<string, unknown>[] = [];
    const answer = recordingTo(
      pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) }),
    );
    for (let second = 1; second <= 2; second += 1) {
      lines.length = 0;
      for (let one = 0; one < 150; one += 1) answer(status, log);
      answer(200, { principal: CALLER });
      expect(lines).toHaveLength(101);
      expect(lines.at(-1)).toMatchObject({ status: 200, key_id: 'k' });
      jest.advanceTimersByTime(1000);
      expect(lines.at(-1)).toMatchObject({ msg, not_logged: 50, reasons: { [reason]: 50 } });
    }
  },
);

test('neither a wait for events nor an open stream counts as time to answer', async () => {
  const answer = recordingTo({ isLevelEnabled: () => false, warn: () => undefined });
  const streaming = performance.now() + 20_004;
  const logs: Log[] = [{ waited: 19_996 }, { streaming }, {}];
  const ends = logs.map((log) => answer(200, { operation: 'quotes', principal: CALLER, ...log }, 20_000));
  void ends[0]!();
  await turn();
  const details = counted.splice(0).flat()[0]!.details!;
  expect([details.get('operations.quotes.t0'), details.get('operations.quotes.t11')]).toEqual([2, 1]);
});

test('a database that does not respond delays shutdown by at most 3 s, which is logged', async () => {
  const warn = jest.fn();
  const stop = recordingTo({ warn, isLevelEnabled: () => false })(200, { operation: 'quotes', principal: CALLER });
  let isOver = false;
  const stopping = stop().then(() => (isOver = true));
  await jest.advanceTimersByTimeAsync(2999);
  await turn();
  expect(isOver).toBe(false);
  await jest.advanceTimersByTimeAsync(1);
  await stopping;
  expect(warn).toHaveBeenCalledWith(expect.anything(), 'the last usage and requests of keys were not written');
});
