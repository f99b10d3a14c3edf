import { AppError } from '../errors';
import { EVENT_WAITS } from '../limits';
import { createShares } from '../async/shares';

/* Limits requests that wait for events, and streams of events, together. */

/** Who waits. */
export interface Holder {
  /** Id of the key, or what stands for it. */
  readonly caller: string;
  /** The organisation, or what stands for it. */
  readonly organisation: string;
}

interface Place {
  readonly organisation: string;
  readonly leave: () => void;
  /** Ends the wait or the stream of its holder. */
  readonly giveUp: () => void;
}

/**
 * Each request that waits and each stream needs a place. In a full gateway, a newcomer gets the oldest place of the organisation that has most,
 * if that has more than the newcomer's own then has.
 */
export function createPlaces() {
  const shares = createShares(EVENT_WAITS);
  /** The oldest first. */
  const takenPlaces = new Set<Place>();

  /** Frees a place for an organisation. Returns false if no other has more than this one with another place. */
  function displaceFor(organisation: string): boolean {
    let most = shares.held('organisation', organisation) + 1;
    let oldest: Place | undefined;
    for (const place of takenPlaces) {
      const count = shares.held('organisation', place.organisation);
      if (count <= most) continue;
      most = count;
      oldest = place;
    }
    oldest?.leave();
    oldest?.giveUp();
    return oldest !== undefined;
  }

  return {
    /**
     * Takes a place, and returns a function that leaves it. `giveUp` is called if another organisation gets the place.
     * @throws AppError rate_limited or unavailable, with the advice, if there are too many
     */
    take(holder: Holder, advice: string, giveUp: () => void): () => void {
      const { organisation } = holder;
      const full = shares.exceeded(holder);
      if (full === 'caller') {
        const detail = `${String(EVENT_WAITS.caller)} requests of this key are waiting for events already, open streams included; ${advice}.`;
        throw new AppError('rate_limited', detail, { retryAfter: 1 });
      }
      if (full === 'organisation' || (full && !displaceFor(organisation))) {
        const whose = full === 'organisation' ? ' of this organisation' : '';
        throw new AppError('unavailable', `Too many requests${whose} are waiting for events; ${advice}.`, {
          reason: 'shed',
        });
      }
      const release = shares.hold(holder);
      const leave = (): void => {
        takenPlaces.delete(place);
        release();
      };
      const place = { organisation, leave, giveUp };
      takenPlaces.add(place);
      return leave;
    },
  };
}
