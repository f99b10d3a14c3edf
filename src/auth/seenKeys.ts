import { LRUCache } from 'lru-cache';
import { isInRanges } from './addresses';
import { type ApiKey, beginsLike, matchesAny, rangesOf, textState } from './keys';

/*
 * Recently accepted keys, so that a request can read its object in parallel with its key. They never grant access: they only tell whether
 * reading ahead is worth it (docs/decisions/one-round-trip.md).
 */

/** Keys that are remembered: one beyond them is read before its object. */
const MAX = 5000;

/** A key as last read. */
interface SeenKey {
  key: ApiKey;
  /** Whether a request is reading ahead with it: one at a time, so that a changed key wastes at most one read. */
  isReadingAhead: boolean;
}

export function createSeenKeys(peppers: readonly string[]) {
  const cache = new LRUCache<string, SeenKey>({ max: MAX });
  return {
    /** The remembered key, if the secret is right for it. Takes equally long for any id and secret, so timing does not reveal known ids. */
    of({ id, secret }: { readonly id: string; readonly secret: string }): SeenKey | undefined {
      const seenKey = cache.get(id);
      return matchesAny(secret, seenKey?.key, peppers) ? seenKey : undefined;
    },
    /** Remembers a key that was just accepted. */
    note(key: ApiKey): void {
      const seenKey = cache.get(key._id) ?? { key, isReadingAhead: false };
      seenKey.key = key;
      cache.set(key._id, seenKey);
    },
    forget: (id: string): void => void cache.delete(id),
  };
}

/** Whether to read ahead: as far as is known, the key will be accepted from this address. */
export function mayReadAhead({ key, isReadingAhead }: SeenKey, token: string, address: string, now: Date): boolean {
  // MongoDB's manual forbids reads while a database moves to another shard; a key remembered from before may still cause one, whose result is dropped
  if (isReadingAhead || key.organisation.moving || !beginsLike(key, token)) return false;
  return textState(key, now) === 'active' && isInRanges(address, rangesOf(key));
}
