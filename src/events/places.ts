import { AppError } from '../errors';

/* Places for requests that wait for events, and for streams of events. */

/** Maximum number of places together, per key, organisation and gateway. A sandbox's count as its organisation's. */
const MAX = { key: 20, organisation: 200, gateway: 1000 };

/** Whose place it is. */
export interface Holder {
  /** Id of the key, or what stands for it. */
  readonly key: string;
  /** The organisation, or what stands for it. */
  readonly owner: string;
}

interface Place {
  readonly key: string;
  readonly giveUp: () => void;
}

/** In a full gateway, a newcomer gets the oldest place of the organisation with most, unless its own would then have as many. */
export function createPlaces() {
  /** By organisation, the oldest first. */
  const taken = new Map<string, Set<Place>>();
  let total = 0;

  function leave(owner: string, place: Place): void {
    const own = taken.get(owner);
    if (!own?.delete(place)) return;
    total -= 1;
    if (own.size === 0) taken.delete(owner);
  }

  /** Gives up a place for an organisation that has `count`. Returns false if no other would keep as many as it then has. */
  function displaceFor(count: number): boolean {
    let [most, owner, oldest] = [count + 1, '', undefined as Place | undefined];
    for (const [one, places] of taken)
      if (places.size > most) [most, owner, oldest] = [places.size, one, places.values().next().value];
    if (!oldest) return false;
    leave(owner, oldest);
    oldest.giveUp();
    return true;
  }

  return {
    /**
     * Takes a place, and returns a function that leaves it. `giveUp` is called if another organisation gets the place.
     * @throws AppError rate_limited or unavailable, with the advice, if there are too many
     */
    take({ key, owner }: Holder, advice: string, giveUp: () => void): () => void {
      const own = taken.get(owner) ?? new Set();
      const ofKey = [...own].filter((place) => place.key === key).length;
      if (ofKey >= MAX.key) {
        const detail = `${String(MAX.key)} requests of this key are waiting for events already, open streams included; ${advice}.`;
        throw new AppError('rate_limited', detail, { retryAfter: 1 });
      }
      const isFull = own.size >= MAX.organisation;
      if (isFull || (total >= MAX.gateway && !displaceFor(own.size))) {
        const detail = `Too many requests${isFull ? ' of this organisation' : ''} are waiting for events; ${advice}.`;
        throw new AppError('unavailable', detail, { reason: 'shed' });
      }
      const place = { key, giveUp };
      taken.set(owner, own.add(place));
      total += 1;
      return () => {
        leave(owner, place);
      };
    },
  };
}
