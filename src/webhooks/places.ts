import { LRUCache } from 'lru-cache';
import { MINUTE } from '../units';

/*
 * Bounds the posts in flight, so that no endpoint or organisation takes the places of others; endpoints that failed last or answer
 * slowly share a few.
 */

export interface Claim {
  readonly organisation: string;
  readonly endpoint: string;
  readonly hasFailed: boolean;
}

/** Posts under way: in all, of an organisation, of all suspects (endpoints that failed last or are slow), and of one organisation's. */
export const MOST_POSTS = { all: 64, organisation: 16, suspects: 16, ownSuspects: 4 } as const;
/** A post that takes this long (ms) makes its endpoint slow, for so long at most unless it is again. */
const SLOW = 5000;
const SLOW_FOR = 10 * MINUTE;
const MOST_SLOW = 10_000;

/** How many an organisation has, and how many of them are suspects. */
interface Own {
  all: number;
  suspects: number;
}

interface Waiting {
  readonly claim: Claim;
  /** Ends the wait with what gives its place back. False without a place. */
  readonly admit: (giveBack: (() => void) | undefined) => boolean;
}

export interface PlacesOptions {
  readonly most?: Readonly<Record<keyof typeof MOST_POSTS, number>>;
  readonly slow?: number;
}

export type Places = ReturnType<typeof createPlaces>;

export function createPlaces({ most = MOST_POSTS, slow = SLOW }: PlacesOptions = {}) {
  const ofOrganisation = new Map<string, Own>();
  const slowOnes = new LRUCache<string, true>({ max: MOST_SLOW, ttl: SLOW_FOR });
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

  /** Gives free places to the organisations with the fewest posts, in order, so that slow receivers of some do not make others wait. */
  function admitWaiting(): void {
    while (all < most.all) {
      const inOrder = [...waiting].sort((one, other) => placesOf(one) - placesOf(other));
      if (!inOrder.some(({ claim, admit }) => admit(tryTake(claim)))) return;
    }
  }

  return {
    /**
     * Resolves when there is a place, first for organisations that have least, with what gives it back; that must be called once. Undefined if
     * there is none within so many milliseconds.
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
    /** Posts under way. */
    taken: (): number => all,
    /** Posts that wait for a place. */
    waiting: (): number => waiting.size,
  };
}
