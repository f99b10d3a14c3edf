import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import { nativeCollection } from '../database/native';
import { type ApiKey, hashAnew } from '../auth/keys';
import type { ControlModels } from './models';

/** last_used_at is written at most this often for a key, in milliseconds (contract, section 4). */
const LAST_USED_EVERY = 60_000;
/** How long changes are batched, in milliseconds, so that keys used at once are written together. */
const GATHERED_FOR = 250;
/** Uses, and new hashes, in one write, since a write of thousands holds up the reads of that time. */
const MOST_AT_ONCE = 100;
/** Pause between two writes if there are more, in milliseconds: a thousand keys a second. */
const NEXT_AFTER = 100;
/** Uses that wait; of further keys the next use is recorded instead. */
const MOST_WAITING = 10_000;
/** New hashes that wait; further keys are hashed anew when they are next used. */
const MOST_HASHED = 1000;

export interface KeyWriterOptions {
  readonly onError: (error: unknown) => void;
  /** The time, in milliseconds since 1970. */
  readonly now: () => number;
  /** The pepper of new hashes. */
  readonly pepper: string;
  /** Its number; undefined if no key has an older pepper. */
  readonly pepperNumber: () => number | undefined;
}

/** Writes what follows from the use of keys, without delaying the request: when and from where, and new hashes. */
export function keyWriter(
  { apiKeys }: Pick<ControlModels, 'apiKeys'>,
  { onError, now, pepper, pepperNumber }: KeyWriterOptions,
) {
  const rows = nativeCollection(apiKeys);
  // when this instance last recorded a use, so that a burst of requests writes once
  const noted = new LRUCache<string, number>({ max: 10_000, ttl: LAST_USED_EVERY });
  const uses = new Map<string, { readonly at: Date; readonly address: string }>();
  const hashes = new Map<string, mongo.AnyBulkWriteOperation<ApiKey>>();
  // keys whose new hash is being written
  const hashing = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<boolean> | undefined;

  /** Whether it succeeded. */
  async function write(): Promise<boolean> {
    const hashed = new Map(firstOf(hashes, MOST_AT_ONCE));
    // one update per key, which the driver retries on a failover; an updateMany concurrent with a revocation deadlocked
    // SecantusDB, which waits for the revocation while holding a lock that the revocation needs
    const operations = firstOf(uses, MOST_AT_ONCE).map(([id, { at, address }]) => ({
      updateOne: {
        filter: { _id: id, last_used_at: { $not: { $gte: new Date(at.getTime() - LAST_USED_EVERY) } } },
        update: { $set: { last_used_at: at, last_used_from: address } },
      },
    }));
    try {
      await rows.bulkWrite([...operations, ...hashed.values()], { ordered: false });
      return true;
    } catch (error) {
      onError(error);
      return false;
    } finally {
      for (const id of hashed.keys()) hashing.delete(id);
    }
  }

  const isLeft = (): boolean => uses.size + hashes.size > 0;

  function soon(after = GATHERED_FOR): void {
    if (!writing) timer ??= setTimeout(start, after).unref();
  }

  /** Writes one batch, one at a time, so that a slow database does not get more work. */
  function start(): void {
    clearTimeout(timer);
    timer = undefined;
    if (!isLeft()) return;
    writing = write().finally(() => {
      writing = undefined;
      if (isLeft()) soon(NEXT_AFTER);
    });
  }

  return {
    /** Records a use. */
    note: (key: ApiKey, address: string): void => {
      const at = now();
      const last = Math.max(key.last_used_at?.getTime() ?? 0, noted.get(key._id) ?? 0);
      if (at - last < LAST_USED_EVERY || uses.size >= MOST_WAITING) return;
      noted.set(key._id, at);
      uses.set(key._id, { at: new Date(at), address });
      soon();
    },
    /** Hashes a key with the current pepper if it has an older one, never a newer one: gateways that know it first may be using it. */
    rehash: (key: ApiKey, secret: string): void => {
      const number = pepperNumber();
      if (number === undefined || (key.pepper ?? 0) >= number) return;
      if (hashing.has(key._id) || hashes.size >= MOST_HASHED) return;
      hashing.add(key._id);
      // nothing is written if another gateway was first, or the key was revoked meanwhile
      const filter = { _id: key._id, hash: key.hash, revoked_at: null };
      const update = { $set: { ...hashAnew(secret, pepper), pepper: number } };
      hashes.set(key._id, { updateOne: { filter, update } });
      soon();
    },
    /** Resolves when everything recorded so far is written, or a write has failed: a database that is away does not hold up the end. */
    settle: async (): Promise<void> => {
      while (writing ?? isLeft()) {
        if (!writing) start();
        if (await writing) continue;
        uses.clear();
        hashes.clear();
        hashing.clear();
      }
    },
  };
}

/** Takes the first entries out of a map. */
function firstOf<Key, Value>(map: Map<Key, Value>, most: number): [Key, Value][] {
  const taken: [Key, Value][] = [];
  for (const entry of map) {
    if (taken.length === most) break;
    taken.push(entry);
    map.delete(entry[0]);
  }
  return taken;
}
