import { setTimeout as sleep } from 'node:timers/promises';

/** Timeout in milliseconds; slow machines have needed more than ten seconds. */
const TIMEOUT = 30_000;
/** Shortest and longest pause between polls, in milliseconds: each poll slows down what it waits for, so the longer the wait, the fewer. */
const [SHORTEST, LONGEST] = [5, 50];

/** Polls `look` until it finds something and returns that; for asynchronous effects such as log lines. */
export async function eventually<T>(look: () => T | Promise<T>, timeout = TIMEOUT): Promise<NonNullable<T>> {
  for (const start = Date.now(); Date.now() - start < timeout;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
    await sleep(Math.min(LONGEST, Math.max(SHORTEST, (Date.now() - start) / 20)));
  }
  throw new Error(`not within ${String(timeout)} ms: ${look.toString()}`);
}
