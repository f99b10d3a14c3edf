import { setTimeout as sleep } from 'node:timers/promises';

/** Timeout in milliseconds; slow machines have needed more than ten seconds. */
const TIMEOUT = 30_000;
/** It looks so often at least: the machine may stop for longer than that. */
const LEAST = 20;
/** Shortest and longest pause between polls, in milliseconds: each poll slows down what it waits for, so the longer the wait, the fewer. */
const [SHORTEST, LONGEST] = [5, 50];

/** Polls `look` until it finds something and returns that; for asynchronous effects such as log lines. If it throws, as at an answer of 503, it looks again. */
export async function eventually<T>(look: () => T | Promise<T>, timeout = TIMEOUT): Promise<NonNullable<T>> {
  let cause: unknown;
  const start = Date.now();
  for (let looks = 0; looks < LEAST || Date.now() - start < timeout; looks += 1) {
    try {
      const found = await look();
      if (found !== undefined && found !== null && found !== false) return found;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await sleep(Math.min(LONGEST, Math.max(SHORTEST, (Date.now() - start) / 20)));
  }
  throw new Error(`not within ${String(timeout)} ms: ${look.toString()}`, { cause });
}
