import { LRUCache } from 'lru-cache';
import { MINUTE } from '../units';

/* Bounds concurrent posts, so that no endpoint or organisation crowds out others. Endpoints that are slow, or whose last attempt failed, share a few places. */

interface Claim {
  readonly organisation: string;
  readonly endpoint: string;
  readonly hasFailed: boolean;
}

/** Concurrent posts: in all, of an organisation, of all suspects (endpoints that are slow, or whose last attempt failed), and of an organisation's suspects. */
export const MAX_POSTS = { all: 64, organisation: 16, suspects: 16, ownSuspects: 4 } as const;
/** A post that takes SLOW or longer marks its endpoint as slow for SLOW_FOR, in milliseconds. */
const SLOW = 5000;
const SLOW_FOR = 10 * MINUTE;
const MAX_SLOW = 10_000;

/** Posts of an organisation, and those to suspects among them. */
interface Own {
  all: number;
  suspects: number;
}

interface Waiting {
  readonly claim: Claim;
  /** Ends the wait with the function that gives the place back. Without a place, it goes on waiting and returns false. */
  readonly admit: (giveBack: (() => void) | undefined) => boolean;
}

interface PlacesOptions {
  readonly most?: Readonly<Record<keyof typeof MAX_POSTS, number>>;
  readonly slow?: number;
}

export type Places = ReturnType<typeof createPlaces>;

export function createPlaces({ most = MAX_POSTS, slow = SLOW }: PlacesOptions = {}) {
  const ofOrganisation = new Map<string, Own>();
  const slowOnes = new LRUCache<string, true>({ max: MAX_SLOW, ttl: SLOW_FOR });
  let [all, suspects] = [0, 0];
  const waiting = new Set<Waiting>();

  const isSuspect = ({ endpoint, hasFailed }: Claim): boolean => hasFailed || slowOnes.has(endpoint);

  function tryTake(claim: Claim): (() => void) | undefined {
    const suspect = isSuspect(claim);
    const own = ofOrganisation.get(claim.organisation) ?? { all: 0, suspects: 0 };
    if (all >= most.all || own.all >= most.organisation) return undefined;
    if (suspect && (suspects >= most.suspects || own.suspects >= most.ownSuspects)) return undefined;
    const count = (by: 1 | -1): void => {
      all += by;
      own.all += by;
      if (suspect) {
        suspects += by;
        own.suspects += by;
      }
    };
    count(1);
    ofOrganisation.set(claim.organisation, own);
    const began = performance.now();
    return () => {
      count(-1);
      if (own.all === 0) ofOrganisation.delete(claim.organisation);
      if (performance.now() - began >= slow) slowOnes.set(claim.endpoint, true);
      else slowOnes.delete(claim.endpoint);
      admitWaiting();
    };
  }

  const placesOf = ({ claim }: Waiting): number => ofOrganisation.get(claim.organisation)?.all ?? 0;

  /** Gives free places to organisations with the fewest posts first, so that slow receivers of some do not make others wait. */
  function admitWaiting(): void {
    while (all < most.all) {
      const inOrder = [...waiting].sort((one, other) => placesOf(one) - placesOf(other));
      if (!inOrder.some(({ claim, admit }) => admit(tryTake(claim)))) return;
    }
  }

  return {
    /**
     * Waits for a place, and resolves with the function that gives it back, which must be called once. Resolves with undefined if no place
     * becomes free within `within` milliseconds.
     */
    take(claim: Claim, within: number): Promise<(() => void) | undefined> {
      const giveBack = tryTake(claim);
      if (giveBack) return Promise.resolve(giveBack);
      return new Promise((resolve) => {
        const end = (taken?: () => void): void => {
          clearTimeout(timer);
          waiting.delete(mine);
          resolve(taken);
        };
        const timer = setTimeout(end, within);
        const mine: Waiting = {
          claim,
          admit: (taken) => {
            if (taken) end(taken);
            return taken !== undefined;
          },
        };
        waiting.add(mine);
      });
    },
    /** Posts in progress. */
    taken: (): number => all,
    /** Posts that wait for a place. */
    waiting: (): number => waiting.size,
  };
}
