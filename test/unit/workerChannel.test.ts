import cluster, { type Worker } from 'node:cluster';
import { setImmediate as turn } from 'node:timers/promises';
import { Counter, Registry } from 'prom-client';
import { RateLimiterRes } from 'rate-limiter-flexible';
import { workersLimiter, shareLimits } from '../../src/admission/sharedLimits';
import { shareMetrics } from '../../src/metrics/workers';
import { ask, onAsked } from '../../src/workerChannel';

/* Both ends of the channel between the first process of `serve --workers` and its workers, in this process. */

interface Message {
  readonly question?: string;
  readonly number: number;
}
type Sent = (error: Error | null) => void;

/** The messages from the worker, and to it. */
const sent: { up: Message[][]; down: Message[][] } = { up: [], down: [] };
const worker = {
  send(messages: Message[]) {
    sent.down.push(messages);
    cluster.emit('message', worker, messages);
  },
} as unknown as Worker;
let fault: Error | null = null;
const send = process.send?.bind(process);
function toFirst(messages: Message[], _handle?: unknown, _options?: unknown, done?: Sent): void {
  // Jest tells its parent of tests
  if (!done) send?.(messages);
  else {
    sent.up.push(messages);
    done(fault);
    if (!fault) cluster.emit('message', worker, messages);
  }
}
const events = ['message', 'exit', 'listening'] as const;
const before = events.map((name) => cluster.listeners(name));
beforeAll(() => {
  process.send = toFirst as never;
});
afterAll(() => {
  process.send = send!;
  events.forEach((name, at) => {
    for (const one of cluster.listeners(name)) if (!before[at]!.includes(one)) cluster.off(name, one as () => void);
  });
});
beforeEach(() => {
  [sent.up, sent.down, fault] = [[], [], null];
});

test('limits are exact over all that workers ask at once, in one message and one answer', async () => {
  shareLimits();
  const [keys, addresses] = [workersLimiter('key', 3), workersLimiter('address', 20)];
  const asked = [1, 1, 2, 1].map((points) => keys.consume('a', points));
  const settled = await Promise.allSettled([...asked, keys.consume('b', 3), addresses.consume('::1', 5)]);
  expect(settled).toMatchObject([
    { status: 'fulfilled', value: { remainingPoints: 2, consumedPoints: 1 } },
    { status: 'fulfilled', value: { remainingPoints: 1, consumedPoints: 2 } },
    { status: 'rejected', reason: { remainingPoints: 0, consumedPoints: 4 } },
    { status: 'rejected', reason: { remainingPoints: 0, consumedPoints: 5 } },
    { status: 'fulfilled', value: { remainingPoints: 0, consumedPoints: 3 } },
    { status: 'fulfilled', value: { remainingPoints: 15, msBeforeNext: expect.any(Number) } },
  ]);
  expect((settled[2] as PromiseRejectedResult).reason).toBeInstanceOf(RateLimiterRes);
  expect([sent.up, sent.down].map((all) => all.map(({ length }) => length))).toEqual([[6], [6]]);
});

test('a question that cannot be sent, is not answered in time, or fails is an error', async () => {
  fault = new Error('Channel closed');
  await expect(ask('anything', 1, 60_000)).rejects.toThrow('Channel closed');
  fault = null;
  await expect(ask('nobody answers this', 1, 8)).rejects.toThrow('no answer within 8 ms');
  onAsked('broken', () => {
    throw new TypeError('broken');
  });
  await expect(ask('broken', 1, 60_000)).rejects.toThrow('TypeError: broken');
});

test('a page of metrics has the series of all listening workers that can report them', async () => {
  shareMetrics();
  const registry = new Registry();
  new Counter({ name: 'counted', help: 'counted', registers: [registry] }).inc(3);
  const tells = (answer: object): Worker => {
    const one = {
      send: ([{ number }]: [Message]) => cluster.emit('message', one, [{ number, ...answer }]),
    } as unknown as Worker;
    cluster.emit('listening', one);
    return one;
  };
  tells({ content: await registry.getMetricsAsJSON() });
  tells({ failure: 'out of memory' });
  const page = () => ask<string>('page of metrics', undefined, 60_000);
  expect(await page()).toMatch(/^counted 3$/m);
  const broken = tells({ content: { broken: true } });
  await expect(page()).rejects.toThrow('TypeError');
  cluster.emit('exit', broken);
  await turn();
  expect(await page()).toMatch(/^counted 3$/m);
});
