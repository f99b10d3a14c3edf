import { setImmediate } from 'node:timers/promises';

/** Milliseconds after which it is never. */
const PATIENCE = 10_000;

/** What `look` finds, as soon as it finds something: for what happens beside an answer, such as its log line. */
export async function eventually<T>(look: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (const start = Date.now(); Date.now() - start < PATIENCE;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
    await setImmediate();
  }
  throw new Error(`not within ${String(PATIENCE)} ms: ${look.toString()}`);
}
