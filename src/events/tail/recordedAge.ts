import { within } from '../../async/timeout';
import type { Databases } from '../../tenant/databases';
import { SECOND } from '../../units';
import { readTail } from './lease';

/** How long the row of the tail (lease.ts) is cached, and how long a scrape waits for it, in milliseconds. */
const CACHED_FOR = 2 * SECOND;
const READ_WITHIN = SECOND;

/**
 * Returns a function for metrics, which resolves with how old the newest change is whose events are stored, in milliseconds, whichever gateway
 * records them. If none ever did, it counts from now; while the row cannot be read, from the last one that was. Never rejects.
 */
export function createRecordedAge(databases: Pick<Databases, 'streams' | 'now' | 'control'>) {
  const { now } = databases;
  let recordedUntil = now();
  let readAt = -Infinity;

  async function read(): Promise<void> {
    const row = await readTail(databases);
    if (row?.at) recordedUntil = row.at.t * SECOND;
  }

  return async (): Promise<number> => {
    if (performance.now() - readAt > CACHED_FOR) {
      readAt = performance.now();
      await within(READ_WITHIN, read()).catch(() => undefined);
    }
    return Math.max(0, now() - recordedUntil);
  };
}
