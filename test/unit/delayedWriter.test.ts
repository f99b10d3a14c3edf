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
