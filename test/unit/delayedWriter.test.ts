import { setImmediate } from 'node:timers/promises';
import { createDelayedWriter } from '../../src/organisations/delayedWriter';

test('whatever is scheduled while a write is in progress waits for it, and becomes one write', async () => {
  jest.useFakeTimers();
  try {
    const ends: (() => void)[] = [];
    const { schedule, flush } = createDelayedWriter(100, () => new Promise((resolve) => ends.push(resolve)));
    for (let round = 0; round < 5; round += 1) {
      schedule();
      await jest.advanceTimersByTimeAsync(100);
    }
    expect(ends).toHaveLength(1);
    const flushed = flush();
    ends[0]!();
    await jest.advanceTimersByTimeAsync(0);
    expect(ends).toHaveLength(2);
    ends[1]!();
    await flushed;
    await jest.advanceTimersByTimeAsync(1000);
    expect(ends).toHaveLength(2);
    schedule();
    await jest.advanceTimersByTimeAsync(100);
    expect(ends).toHaveLength(3);
  } finally {
    jest.useRealTimers();
  }
});

test('one write runs at a time, also if who waited for one asks for the next while another waits', async () => {
  const ends: (() => void)[] = [];
  let running = 0;
  let most = 0;
  const { flush } = createDelayedWriter(100, async () => {
    most = Math.max(most, (running += 1));
    await new Promise<void>((resolve) => ends.push(resolve));
    running -= 1;
  });
  const again = flush().then(flush);
  await setImmediate();
  const waiting = flush();
  for (let round = 0; round < 3; round += 1) {
    ends.shift()?.();
    await setImmediate();
  }
  await Promise.all([again, waiting]);
  expect(most).toBe(1);
});
