import { POSTS } from '../limits';
import { createShares } from '../async/shares';

/* Limits concurrent posts, so that no organisation crowds out others: each post needs a slot. */

interface Waiting {
  readonly organisation: string;
  /** Ends the wait with the function that gives the slot back. */
  readonly admit: (giveBack: () => void) => void;
}

export type PostSlots = ReturnType<typeof createPostSlots>;

export function createPostSlots(most: Readonly<Record<keyof typeof POSTS, number>> = POSTS) {
  const shares = createShares(most);
  const waiting = new Set<Waiting>();
  const countOf = (organisation: string): number => shares.held('organisation', organisation);

  function tryTake(organisation: string): (() => void) | undefined {
    const release = shares.take({ organisation });
    if (!release) return undefined;
    return () => {
      release();
      admitNext();
    };
  }

  /** Gives a free slot to the waiting organisation with the fewest posts, so that slow receivers of some do not make others wait. If that one is at its limit, all that wait are. */
  function admitNext(): void {
    let next: Waiting | undefined;
    for (const waiter of waiting) if (!next || countOf(waiter.organisation) < countOf(next.organisation)) next = waiter;
    const giveBack = next && tryTake(next.organisation);
    if (giveBack) next?.admit(giveBack);
  }

  return {
    /**
     * Waits for a slot, and resolves with the function that gives it back, which must be called once. Resolves with undefined if no slot
     * becomes free within `within` milliseconds.
     */
    take(organisation: string, within: number): Promise<(() => void) | undefined> {
      const giveBack = tryTake(organisation);
      if (giveBack) return Promise.resolve(giveBack);
      return new Promise((resolve) => {
        const end = (release?: () => void): void => {
          clearTimeout(timer);
          waiting.delete(mine);
          resolve(release);
        };
        const timer = setTimeout(end, within);
        const mine: Waiting = { organisation, admit: end };
        waiting.add(mine);
      });
    },
    /** Posts in progress. */
    taken: (): number => shares.held('all'),
    waiting: (): number => waiting.size,
  };
}
