import { LRUCache } from 'lru-cache';
import { nativeCollection } from '../mongo/native';
import { type ApiKey, hashWithNewSalt } from '../auth/keys';
import { MINUTE } from '../units';
import type { ControlModels } from './models';
import { createDelayedWriter } from './delayedWriter';

/** last_used_at is written at most this often for a key, in milliseconds (contract, section 4). */
const LAST_USED_EVERY = MINUTE;
/** How long to gather changes, in milliseconds, so that keys used at the same time are written together. */
const WRITE_AFTER = 100;
/** Changes per write: a write of thousands would delay reads. This allows at most a thousand changes a second. */
const MAX_AT_ONCE = 100;
/** The longest queue. A change beyond it is left out, and made at a later use of the key. */
const MAX_WAITING = 10_000;

export interface KeyWriterOptions {
  readonly onError: (error: unknown) => void;
  readonly now: () => number;
  readonly pepper: string;
  /** The pepper's number; undefined if no key has an older pepper. */
  readonly pepperNumber: () => number | undefined;
}

/** Records when and from where keys are used, and their new hashes, without delaying requests. */
export function createKeyWriter(
  { apiKeys }: Pick<ControlModels, 'apiKeys'>,
  { onError, now, pepper, pepperNumber }: KeyWriterOptions,
) {
  const rows = nativeCollection(apiKeys);
  // when this process last recorded a use, by key id, so that a burst of requests causes one write
  const noted = new LRUCache<string, number>({ max: 10_000, ttl: LAST_USED_EVERY });
  // one update per key, which the driver retries on a failover, unlike an updateMany
  const waiting: { readonly updateOne: { readonly filter: { readonly _id: string }; readonly update: object } }[] = [];
  // keys whose new hash is being written
  const hashing = new Set<string>();
  /** Whether a shutdown waits for the queue. */
  let isSettling = false;

  const { schedule, flush } = createDelayedWriter(WRITE_AFTER, async () => {
    const batch = waiting.splice(0, MAX_AT_ONCE);
    if (batch.length === 0) return;
    try {
      await rows.bulkWrite(batch, { ordered: false });
    } catch (error) {
      onError(error);
      // a database that is down must not delay shutdown
      if (isSettling) batch.push(...waiting.splice(0));
    }
    // also after a failure, so that a later use of the key tries again
    for (const { updateOne } of batch) hashing.delete(updateOne.filter._id);
    if (waiting.length > 0) schedule();
  });

  function add(filter: { readonly _id: string }, set: Partial<ApiKey>): void {
    waiting.push({ updateOne: { filter, update: { $set: set } } });
    schedule();
  }

  return {
    /** Records a use, unless one was recorded in the last minute. */
    noteUse: (key: ApiKey, address: string): void => {
      const at = now();
      const last = Math.max(key.last_used_at?.getTime() ?? 0, noted.get(key._id) ?? 0);
      if (at - last < LAST_USED_EVERY || waiting.length >= MAX_WAITING) return;
      noted.set(key._id, at);
      const unused = { last_used_at: { $not: { $gte: new Date(at - LAST_USED_EVERY) } } };
      add({ _id: key._id, ...unused }, { last_used_at: new Date(at), last_used_from: address });
    },
    /**
     * Hashes a key with the current pepper if it has an older one. A newer one stays: gateways that already know it may be
     * using it.
     */
    rehash: (key: ApiKey, secret: string): void => {
      const number = pepperNumber();
      if (number === undefined || (key.pepper ?? 0) >= number) return;
      if (hashing.has(key._id) || waiting.length >= MAX_WAITING) return;
      hashing.add(key._id);
      // nothing is written if another gateway was first, or the key was revoked meanwhile
      const same = { _id: key._id, hash: key.hash, revoked_at: null };
      add(same, { ...hashWithNewSalt(secret, pepper, key.restricted?.customer_ids), pepper: number });
    },
    /** Resolves when everything recorded so far is written, or a write has failed. */
    settle: async (): Promise<void> => {
      isSettling = true;
      do await flush();
      while (waiting.length > 0);
      isSettling = false;
    },
  };
}
