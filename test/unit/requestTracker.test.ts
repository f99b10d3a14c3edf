import type { Exchange } from '../../src/http/exchange';
import {
  createRequestTracker,
  type RequestTracker,
  type RequestTrackerOptions,
} from '../../src/admission/requestTracker';
import { TIMEOUTS } from '../../src/gateway/ports';

const never = (): Promise<void> => new Promise(() => undefined);

let started: RequestTracker<Exchange>[] = [];
beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  for (const one of started) one.stop();
  started = [];
  jest.useRealTimers();
});

function newExchange(): Exchange {
  return { isReceiving: false, idleWaits: 0, log: {} } as Exchange;
}

function of(id: string, { isReceiving = false, idleWaits = 0 } = {}): Exchange {
  return { isReceiving, idleWaits, log: { principal: { organisation: { id } } } } as unknown as Exchange;
}

function answering(ask: () => Promise<boolean>): RequestTrackerOptions<Exchange>['availability'] {
  return { ask, isDown: () => false };
}

function start(options: Partial<RequestTrackerOptions<Exchange>> = {}): RequestTracker<Exchange> {
  const tracker = createRequestTracker({
    availability: answering(() => Promise.resolve(true)),
    lostAt: () => -Infinity,
    onShed: () => undefined,
    onEnd: () => undefined,
    maxDuration: TIMEOUTS.answer,
    ...options,
  });
  started.push(tracker);
  return tracker;
}

/** The error of a request whose work never ends; undefined while it is in progress. */
function endOf(tracker: RequestTracker<Exchange>, exchange = newExchange()): { error?: unknown } {
  const end: { error?: unknown } = {};
  tracker.run(exchange, never).catch((error: unknown) => (end.error = error));
  return end;
}

const UNAVAILABLE = { code: 'unavailable', status: 503, extras: expect.objectContaining({ retryAfter: 2 }) as unknown };

/** Connections to the database are lost at these times, in milliseconds from now. */
function losing(...moments: number[]): Partial<RequestTrackerOptions<Exchange>> {
  const begun = performance.now();
  const lostAt = (): number =>
    Math.max(-Infinity, ...moments.map((at) => begun + at).filter((at) => at <= performance.now()));
  return { lostAt };
}

const AGAIN = Array.from({ length: 100 }, (_, at) => 100 + at * 400);
const away = (): Promise<boolean> => Promise.resolve(false);
const slow = (): Promise<boolean> => new Promise((resolve) => setTimeout(resolve, 1500, true));

test.each<[string, number, boolean, () => Partial<RequestTrackerOptions<Exchange>>]>([
  ['continues while the database responds', 49_000, false, () => ({})],
  ['ends when the database does not respond', 2000, true, () => ({ availability: answering(away) })],
  [
    'ends before its connection times out, however slow the last check',
    TIMEOUTS.stalled - 5000,
    true,
    () => ({ availability: answering(slow) }),
  ],
  ['ends when connections are lost, even if the database responds again', 7000, true, () => losing(100)],
  ['gets no more time if they are lost again and again', 8000, true, () => losing(...AGAIN)],
  ['continues if they were lost before it began', 49_000, false, () => losing(-100)],
])('a request %s', async (_title, after, isEnded, options) => {
  const end = endOf(start(options()));
  await jest.advanceTimersByTimeAsync(after);
  expect(end).toEqual(isEnded ? { error: expect.objectContaining(UNAVAILABLE) as unknown } : {});
});

test('a request still receiving its body when connections are lost is not affected', async () => {
  const exchange = newExchange();
  const end = endOf(start(losing(5000)), Object.assign(exchange, { isReceiving: true }));
  await jest.advanceTimersByTimeAsync(20_000);
  Object.assign(exchange, { isReceiving: false });
  await jest.advanceTimersByTimeAsync(20_000);
  expect(end.error).toBeUndefined();
});

test('it is calm while up to four requests wait for the database, whoever waits for a body or for events', () => {
  const tracker = start();
  for (let nth = 0; nth < 4; nth += 1) endOf(tracker);
  for (const how of [{ isReceiving: true }, { idleWaits: 1 }]) endOf(tracker, of('o', how));
  expect(tracker.isCalm()).toBe(true);
  endOf(tracker);
  expect(tracker.isCalm()).toBe(false);
});

test('a request whose work never ends is eventually dropped, and reported once', async () => {
  const ended: Exchange[] = [];
  const tracker = start({ onEnd: (exchange) => ended.push(exchange) });
  const exchange = newExchange();
  endOf(tracker, exchange);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(tracker.inFlight()).toBe(1);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(tracker.inFlight()).toBe(0);
  expect(ended).toEqual([exchange]);
});

describe('of the pending requests', () => {
  const many = (tracker: RequestTracker<Exchange>, count: number, exchange: () => Exchange): void => {
    for (let at = 0; at < count; at += 1) endOf(tracker, exchange());
  };
  const admitting = (tracker: RequestTracker<Exchange>, id: string) => (): void => {
    tracker.admitOrganisation({ id });
  };
  const REFUSAL = expect.objectContaining({ code: 'unavailable', status: 503 }) as Error;

  test('one organisation may have 500; its next one is rejected, and others are served', () => {
    const shed: string[] = [];
    const tracker = start({ onShed: (whose) => shed.push(whose) });
    many(tracker, 500, () => of('heavy'));
    many(tracker, 10, () => of('light'));
    expect(admitting(tracker, 'heavy')).not.toThrow();
    many(tracker, 1, () => of('heavy'));
    expect(admitting(tracker, 'heavy')).toThrow(REFUSAL);
    expect(admitting(tracker, 'light')).not.toThrow();
    expect(shed).toEqual(['organisation']);
  });

  test.each([
    ['waiting for events', { idleWaits: 1 }],
    ['still receiving their body', { isReceiving: true }],
  ])('those %s do not count', (_what, state) => {
    const tracker = start();
    many(tracker, 600, () => of('heavy', state));
    expect(admitting(tracker, 'heavy')).not.toThrow();
    expect(tracker.hasOthers('light')).toBe(false);
  });
});

test('while the database is down, requests are rejected before any query', () => {
  const tracker = start({ availability: { ...answering(() => Promise.resolve(false)), isDown: () => true } });
  expect(() => {
    tracker.admit();
  }).toThrow(expect.objectContaining(UNAVAILABLE));
});
