import { LRUCache } from 'lru-cache';
import { nativeCollection } from '../database/native';
import type { ApiKey } from '../access/apiKey';
import type { ControlModels } from './models';

/** last_used_at is written at most this often for a key, in milliseconds (contract, section 4). */
const LAST_USED_EVERY = 60_000;
/** How long uses are batched, in milliseconds, so that thousands of keys used at once take one write. */
const GATHERED_FOR = 250;

/** Writes when and from where keys were last used. */
export function lastUsedWriter({ apiKeys }: Pick<ControlModels, 'apiKeys'>, onError: (error: unknown) => void) {
  const rows = nativeCollection(apiKeys);
  // when this instance last recorded a use, so that a burst of requests writes once
  const noted = new LRUCache<string, number>({ max: 10_000, ttl: LAST_USED_EVERY });
  let gathered = new Map<string, { readonly at: Date; readonly address: string }>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  function write(): void {
    clearTimeout(timer);
    timer = undefined;
    const uses = [...gathered];
    gathered = new Map();
    if (uses.length === 0) return;
    // one update per key, which the driver retries on a failover; an updateMany concurrent with a revocation deadlocked
    // SecantusDB, which waits for the revocation while holding a lock that the revocation needs
    const operations = uses.map(([id, { at, address }]) => ({
      updateOne: {
        filter: { _id: id, last_used_at: { $not: { $gte: new Date(at.getTime() - LAST_USED_EVERY) } } },
        update: { $set: { last_used_at: at, last_used_from: address } },
      },
    }));
    const written = rows.bulkWrite(operations, { ordered: false });
    writing = Promise.all([writing, written]).then(() => undefined, onError);
  }

  return {
    /** Records a use, without delaying the request. */
    note: (key: ApiKey, address: string): void => {
      const now = Date.now();
      const last = Math.max(key.last_used_at?.getTime() ?? 0, noted.get(key._id) ?? 0);
      if (now - last < LAST_USED_EVERY) return;
      noted.set(key._id, now);
      gathered.set(key._id, { at: new Date(now), address });
      timer ??= setTimeout(write, GATHERED_FOR).unref();
    },
    /** Resolves when everything recorded so far is written or has failed. */
    settle: (): Promise<void> => {
      write();
      return writing;
    },
  };
}
