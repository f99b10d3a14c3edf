import type { Exchange } from '../../src/http/exchange';
import { createPatience, type Patience, type PatienceOptions } from '../../src/http/patience';
import { TIMEOUTS } from '../../src/server';

const never = (): Promise<void> => new Promise(() => undefined);

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

function newExchange(): Exchange {
  return { isReceiving: false, held: 0, log: {} } as Exchange;
}

function answering(ask: (cluster: string) => Promise<boolean>): PatienceOptions['availability'] {
  return { ask, isAway: () => false };
}

function start(options: Partial<PatienceOptions> = {}): Patience {
  return createPatience({
    availability: answering(() => Promise.resolve(true)),
    clusters: ['default', 'eu'],
    lostAt: () => -Infinity,
    onShed: () => undefined,
    onEnd: () => undefined,
    longest: TIMEOUTS.answer,
    ...options,
  });
}

/** The error of a request whose work never ends; undefined while it is in progress. */
function endOf(patience: Patience, exchange = newExchange()): { error?: unknown } {
  const end: { error?: unknown } = {};
  patience.spend(exchange, never).catch((error: unknown) => (end.error = error));
  return end;
}

const UNAVAILABLE = { code: 'unavailable', status: 503, extras: expect.objectContaining({ retryAfter: 2 }) as unknown };

test('a request continues while the database responds', async () => {
  const patience = start();
  const end = endOf(patience);
  await jest.advanceTimersByTimeAsync(49_000);
  expect(end.error).toBeUndefined();
  patience.stop();
});

test('a request gets 503 with Retry-After when the database does not respond', async () => {
  const patience = start({ availability: answering(() => Promise.resolve(false)) });
  const end = endOf(patience);
  await jest.advanceTimersByTimeAsync(2000);
  expect(end.error).toMatchObject(UNAVAILABLE);
  patience.stop();
});

test('a request that takes too long gets 503 before its connection times out, however slow the last check', async () => {
  const slow = (): Promise<boolean> => new Promise((resolve) => setTimeout(resolve, 1500, true));
  const patience = start({ availability: answering(slow) });
  const end = endOf(patience);
  await jest.advanceTimersByTimeAsync(TIMEOUTS.stalled - 5000);
  expect(end.error).toMatchObject(UNAVAILABLE);
  patience.stop();
});

describe('when connections to the database are lost', () => {
  /** A patience whose connections are lost at these times, in milliseconds from now. */
  function losing(...moments: number[]): Patience {
    const start_ = performance.now();
    const lostAt = (): number =>
      Math.max(-Infinity, ...moments.map((at) => start_ + at).filter((at) => at <= performance.now()));
    return start({ lostAt });
  }

  test('a request in progress gets 503, even if the database responds again', async () => {
    const patience = losing(100);
    const end = endOf(patience);
    await jest.advanceTimersByTimeAsync(7000);
    expect(end.error).toMatchObject(UNAVAILABLE);
    patience.stop();
  });

  test('several times, a request gets no more time than after the first loss', async () => {
    const patience = losing(...Array.from({ length: 100 }, (_, at) => 100 + at * 400));
    const end = endOf(patience);
    await jest.advanceTimersByTimeAsync(8000);
    expect(end.error).toMatchObject(UNAVAILABLE);
    patience.stop();
  });

  test('a request that started afterwards is not affected', async () => {
    const patience = losing(-100);
    const end = endOf(patience);
    await jest.advanceTimersByTimeAsync(49_000);
    expect(end.error).toBeUndefined();
    patience.stop();
  });

  test('a request still receiving its body is not affected', async () => {
    const patience = losing(5000);
    const exchange = Object.assign(newExchange(), { isReceiving: true });
    const end = endOf(patience, exchange);
    await jest.advanceTimersByTimeAsync(20_000);
    exchange.isReceiving = false;
    await jest.advanceTimersByTimeAsync(20_000);
    expect(end.error).toBeUndefined();
    patience.stop();
  });
});

test('a request whose work never ends is eventually dropped, and reported once', async () => {
  const ended: Exchange[] = [];
  const patience = start({ onEnd: (exchange) => ended.push(exchange) });
  const exchange = newExchange();
  endOf(patience, exchange);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(patience.inHand()).toBe(1);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(patience.inHand()).toBe(0);
  expect(ended).toEqual([exchange]);
  patience.stop();
});

describe('of the pending requests', () => {
  const of = (id: string, { cluster = 'default', isReceiving = false, held = 0 } = {}): Exchange =>
    ({ isReceiving, held, log: { principal: { organisation: { id, cluster } } } }) as unknown as Exchange;
  const many = (patience: Patience, count: number, exchange: () => Exchange): void => {
    for (let at = 0; at < count; at += 1) endOf(patience, exchange());
  };
  const admitting =
    (patience: Patience, id: string, cluster = 'default') =>
    (): void => {
      patience.admitOrganisation({ id, cluster });
    };
  const REFUSAL = expect.objectContaining({ code: 'unavailable', status: 503 }) as Error;

  test('one organisation may have 500; its next one is rejected, and others are served', () => {
    const shed: string[] = [];
    const patience = start({ onShed: (whose) => shed.push(whose) });
    many(patience, 500, () => of('heavy'));
    many(patience, 10, () => of('light'));
    expect(admitting(patience, 'heavy')).not.toThrow();
    many(patience, 1, () => of('heavy'));
    expect(admitting(patience, 'heavy')).toThrow(REFUSAL);
    expect(admitting(patience, 'light')).not.toThrow();
    expect(shed).toEqual(['organisation']);
    patience.stop();
  });

  test('one of several clusters may have 1,000 of all its organisations, and other clusters are served', () => {
    const shed: string[] = [];
    const patience = start({ onShed: (whose) => shed.push(whose) });
    for (let at = 0; at < 1000; at += 1) many(patience, 1, () => of(`one of many ${String(at)}`, { cluster: 'eu' }));
    expect(admitting(patience, 'next', 'eu')).not.toThrow();
    many(patience, 1, () => of('next', { cluster: 'eu' }));
    expect(admitting(patience, 'another', 'eu')).toThrow(REFUSAL);
    expect(admitting(patience, 'another', 'default')).not.toThrow();
    expect(shed).toEqual(['cluster']);
    patience.stop();
  });

  test('those waiting for events do not count', () => {
    const patience = start();
    many(patience, 600, () => of('heavy', { held: 1 }));
    expect(admitting(patience, 'heavy')).not.toThrow();
    expect(patience.hasOthers('light')).toBe(false);
    patience.stop();
  });

  test('those still receiving their body do not count', () => {
    const patience = start();
    many(patience, 600, () => of('heavy', { isReceiving: true }));
    expect(admitting(patience, 'heavy')).not.toThrow();
    patience.stop();
  });
});

describe('while a cluster is down', () => {
  const isAway = (cluster: string): boolean => cluster === 'eu';

  test('only its organisations are rejected, before any query', () => {
    const patience = start({ availability: { ...answering(() => Promise.resolve(true)), isAway } });
    expect(() => {
      patience.admitOrganisation({ id: 'a', cluster: 'eu' });
    }).toThrow(expect.objectContaining(UNAVAILABLE));
    expect(() => {
      patience.admit();
      patience.admitOrganisation({ id: 'b', cluster: 'default' });
    }).not.toThrow();
    patience.stop();
  });

  test('only requests waiting for it are ended', async () => {
    const patience = start({ availability: answering((cluster) => Promise.resolve(!isAway(cluster))) });
    const principal = (cluster: string): Exchange =>
      ({
        isReceiving: false,
        held: 0,
        log: { principal: { organisation: { id: 'a', cluster } } },
      }) as unknown as Exchange;
    const [there, away] = [endOf(patience, principal('default')), endOf(patience, principal('eu'))];
    await jest.advanceTimersByTimeAsync(2000);
    expect(there.error).toBeUndefined();
    expect(away.error).toMatchObject(UNAVAILABLE);
    patience.stop();
  });
});
