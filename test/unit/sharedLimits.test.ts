import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { RateLimiterRes } from 'rate-limiter-flexible';
import { limitsOfAllWorkers } from '../../src/admission/sharedLimits';

/** A worker's end of the channel to the first process, with what was sent. */
class Channel extends EventEmitter {
  readonly sent: { askForLimits: number; asks: unknown[] }[] = [];
  fault: Error | null = null;

  send(message: unknown, _handle: unknown, _options: unknown, done: (error: Error | null) => void): boolean {
    this.sent.push(message as (typeof this.sent)[number]);
    process.nextTick(done, this.fault);
    return true;
  }
}

const open = () => {
  const channel = new Channel();
  return { channel, store: limitsOfAllWorkers(channel as unknown as NodeJS.Process) };
};

test('all questions of one event loop turn are sent in one message, and each gets its own answer', async () => {
  const { channel, store } = open();
  const [keys, addresses] = [store('key', 10), store('address', 20)];
  const asked = [keys.consume('a', 1), keys.consume('b', 3), addresses.consume('::1', 1)];
  await turn();
  expect(channel.sent).toEqual([
    {
      askForLimits: 1,
      asks: [
        ['key', 'a', 1, 10],
        ['key', 'b', 3, 10],
        ['address', '::1', 1, 20],
      ],
    },
  ]);
  const later = keys.consume('a', 1);
  await turn();
  const answer = (question: number, ...taken: unknown[]): unknown =>
    channel.emit('message', { limitsAsked: question, taken });
  answer(2, [true, 8, 900, 2]);
  // messages of others, and late answers
  channel.emit('message', { metrics: 'a page' });
  answer(3, [true, 0, 0, 0]);
  answer(1, [true, 9, 1000, 1], [false, 0, 1000, 12], [true, 5, 1000, 5]);
  const settled = await Promise.allSettled([...asked, later]);
  expect(settled).toMatchObject([
    { status: 'fulfilled', value: { remainingPoints: 9, msBeforeNext: 1000, consumedPoints: 1 } },
    { status: 'rejected', reason: { remainingPoints: 0, consumedPoints: 12 } },
    { status: 'fulfilled', value: { remainingPoints: 5 } },
    { status: 'fulfilled', value: { remainingPoints: 8 } },
  ]);
  expect((settled[1] as PromiseRejectedResult).reason).toBeInstanceOf(RateLimiterRes);
});

test('a message that cannot be sent fails its questions, so that a worker counts by itself', async () => {
  const { channel, store } = open();
  channel.fault = new Error('Channel closed');
  await expect(
    Promise.allSettled([store('key', 10).consume('a', 1), store('key', 10).consume('b', 1)]),
  ).resolves.toMatchObject([{ reason: channel.fault }, { reason: channel.fault }]);
});

test('waiting for the first process times out after 5 s', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
  try {
    const { store } = open();
    const asked = store('key', 10).consume('a', 1);
    await turn();
    jest.advanceTimersByTime(5000);
    await expect(asked).rejects.toThrow('the first process does not answer');
  } finally {
    jest.useRealTimers();
  }
});
