import { LRUCache } from 'lru-cache';
import { isInRanges } from './addresses';
import { type ApiKey, keyState, matchesAny } from './keys';

/*
 * Keys that were accepted before, so that what a caller reads can be read beside its key instead of after it. Nothing is decided from them:
 * they only say what is worth beginning (docs/decisions/one-round-trip.md).
 */

const MOST = 5000;

/** A key as it was when it was last read. */
export interface SeenKey {
  key: ApiKey;
  /** Whether a request reads ahead for it now: one at a time, so that a change of the key costs at most one read that is dropped. */
  isAhead: boolean;
}

/** `keptFor`: how long each is kept after it was last accepted, in milliseconds; 0 for as long as there is room. */
export function seenKeys(peppers: readonly string[], keptFor: number) {
  const seen = new LRUCache<string, SeenKey>({ max: MOST, ttl: keptFor });
  return {
    /** A key that was accepted before, if this is its secret. Takes as long for any other id and secret, so the time does not say which ids are known. */
    of({ id, secret }: { readonly id: string; readonly secret: string }): SeenKey | undefined {
      const known = seen.get(id);
      return matchesAny(secret, known?.key, peppers) ? known : undefined;
    },
    note(key: ApiKey): void {
      const known = seen.get(key._id) ?? { key, isAhead: false };
      known.key = key;
      seen.set(key._id, known);
    },
    forget: (id: string): void => void seen.delete(id),
  };
}

/** Whether a request may be read ahead for: as far as is known its key is accepted from its address. */
export function isLikely({ key, isAhead }: SeenKey, token: string, address: string, now: Date): boolean {
  if (isAhead || !token.startsWith(key.prefix)) return false;
  return keyState(key, now) === 'active' && isInRanges(address, key.allowed_ranges);
}
