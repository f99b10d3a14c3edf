import { setImmediate } from 'node:timers/promises';

/** Timeout in milliseconds. */
const PATIENCE = 10_000;

/** Polls `look` until it finds something and returns that; for asynchronous effects such as log lines. */
export async function eventually<T>(look: () => T | Promise<T>, patience = PATIENCE): Promise<NonNullable<T>> {
  for (const start = Date.now(); Date.now() - start < patience;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
    await setImmediate();
  }
  throw new Error(`not within ${String(patience)} ms: ${look.toString()}`);
}
