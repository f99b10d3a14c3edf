import { setTimeout as sleep } from 'node:timers/promises';
import { createLoop } from '../../src/async/loop';

/* Background work of a gateway: rounds until it is stopped. */

/** Until a pause is ended, none ends in a test. */
const NEVER = 1_000_000;

function looping(round: (time: number) => Promise<boolean> | boolean, options = {}) {
  const [errors, times] = [[] as unknown[], [] as number[]];
  let rounds = 0;
  const loop = createLoop({
    async round() {
      rounds += 1;
      times.push(performance.now());
      return round(rounds);
    },
    every: NEVER,
    onError: (error: unknown) => errors.push(error),
    ...options,
  });
  const reaches = async (count: number): Promise<void> => {
    while (rounds < count) await sleep(1);
  };
  return { loop, errors, times, reaches, rounds: () => rounds };
}

test('a round that has more work is followed by the next one at once, and any other by a pause', async () => {
  const { loop, rounds, reaches } = looping((time) => time < 5);
  loop.start();
  loop.start();
  await reaches(5);
  await sleep(20);
  expect(rounds()).toBe(5);
  await loop.stop();
});

test('a wake ends the pause, and is not lost if it comes during a round', async () => {
  const { loop, rounds, reaches } = looping((time) => {
    if (time === 2) loop.wake();
    return false;
  });
  loop.start();
  await reaches(1);
  await sleep(5);
  loop.wake();
  await reaches(3);
  await sleep(20);
  expect(rounds()).toBe(3);
  await loop.stop();
});

test('a round that fails is reported, and tried again after its own pause, which a wake before does not shorten', async () => {
  const { loop, errors, times, reaches } = looping(
    (time) => {
      if (time > 1) return false;
      loop.wake();
      throw new Error('away');
    },
    { afterFailure: 50 },
  );
  loop.start();
  await reaches(2);
  expect(errors).toEqual([new Error('away')]);
  expect(times[1]! - times[0]!).toBeGreaterThan(40);
  await loop.stop();
});

test('stopping ends a pause, waits for the round in progress, and begins no other', async () => {
  let end = (_hasMore: boolean): void => undefined;
  const { loop, rounds, reaches } = looping(() => new Promise<boolean>((resolve) => (end = resolve)));
  loop.start();
  await reaches(1);
  let isStopped = false;
  const stopping = loop.stop().then(() => (isStopped = true));
  await sleep(10);
  expect([isStopped, loop.isEnding(), loop.ending.aborted]).toEqual([false, true, true]);
  end(true);
  await stopping;
  expect(rounds()).toBe(1);
  const idle = looping(() => false);
  idle.loop.start();
  await idle.reaches(1);
  await idle.loop.stop();
});
