import { setTimeout as sleep } from 'node:timers/promises';

export { sleep };

/** Polls until the condition holds; returns how long that took in milliseconds, or undefined after the timeout. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number,
  everyMs = 25,
): Promise<number | undefined> {
  const started = performance.now();
  for (;;) {
    if (await condition()) return performance.now() - started;
    if (performance.now() - started > timeoutMs) return undefined;
    await sleep(everyMs);
  }
}

/** Does work that changes nothing again until it succeeds, for a minute at most: a database on a busy machine may be late. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const latest = performance.now() + 60_000;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > latest) throw error;
    }
    await sleep(200);
  }
}

/** The value below which this share of the values lies; 0 if there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

export function milliseconds(value: number): string {
  return value < 10_000 ? `${Math.round(value).toLocaleString('en')} ms` : `${(value / 1000).toFixed(1)} s`;
}

/** Median and maximum of durations; a dash if there are none. */
export function spread(values: readonly number[]): string {
  if (values.length === 0) return '–';
  if (values.length === 1) return milliseconds(values[0] ?? 0);
  return `${milliseconds(quantile(values, 0.5))} / ${milliseconds(Math.max(...values))}`;
}
