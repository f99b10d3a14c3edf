import { setTimeout as sleep } from 'node:timers/promises';

/** Timeout in milliseconds; slow machines have needed more than ten seconds. */
const TIMEOUT = 30_000;
/** Pause between polls, in milliseconds: without one, polling would slow down what it waits for. */
const PAUSE = 5;

/** Polls `look` until it finds something and returns that; for asynchronous effects such as log lines. */
export async function eventually<T>(look: () => T | Promise<T>, timeout = TIMEOUT): Promise<NonNullable<T>> {
  for (const start = Date.now(); Date.now() - start < timeout;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
    await sleep(PAUSE);
  }
  throw new Error(`not within ${String(timeout)} ms: ${look.toString()}`);
}
