import { setTimeout as sleep } from 'node:timers/promises';

/** Timeout in milliseconds; slow machines have needed more than ten seconds. */
const PATIENCE = 30_000;
/** How often to look, in milliseconds: looking without a pause would slow what it waits for. */
const LOOK_EVERY = 5;

/** Polls `look` until it finds something and returns that; for asynchronous effects such as log lines. */
export async function eventually<T>(look: () => T | Promise<T>, patience = PATIENCE): Promise<NonNullable<T>> {
  for (const start = Date.now(); Date.now() - start < patience;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
    await sleep(LOOK_EVERY);
  }
  throw new Error(`not within ${String(patience)} ms: ${look.toString()}`);
}
