/* Bounds concurrent posts, so that no organisation crowds out others. */

/** Concurrent posts: in all, and of an organisation. An endpoint has 8 at most, and 1 after a failure (health.ts). */
export const MAX_POSTS = { all: 64, organisation: 8 } as const;

interface Waiting {
  readonly organisation: string;
  /** Ends the wait with the function that gives the place back. */
  readonly admit: (giveBack: () => void) => void;
}

export type Places = ReturnType<typeof createPlaces>;

export function createPlaces(most: Readonly<Record<keyof typeof MAX_POSTS, number>> = MAX_POSTS) {
  const ofOrganisation = new Map<string, number>();
  const waiting = new Set<Waiting>();
  let all = 0;

  const countOf = (organisation: string): number => ofOrganisation.get(organisation) ?? 0;

  function tryTake(organisation: string): (() => void) | undefined {
    if (all >= most.all || countOf(organisation) >= most.organisation) return undefined;
    all += 1;
    ofOrganisation.set(organisation, countOf(organisation) + 1);
    return () => {
      all -= 1;
      const left = countOf(organisation) - 1;
      if (left === 0) ofOrganisation.delete(organisation);
      else ofOrganisation.set(organisation, left);
      admitNext();
    };
  }

  /** Gives a free place to the organisation with the fewest posts, so that slow receivers of some do not make others wait. */
  function admitNext(): void {
    let next: Waiting | undefined;
    for (const one of waiting) if (!next || countOf(one.organisation) < countOf(next.organisation)) next = one;
    const giveBack = next && tryTake(next.organisation);
    if (giveBack) next?.admit(giveBack);
  }

  return {
    /**
     * Waits for a place, and resolves with the function that gives it back, which must be called once. Resolves with undefined if no place
     * becomes free within `within` milliseconds.
     */
    take(organisation: string, within: number): Promise<(() => void) | undefined> {
      const giveBack = tryTake(organisation);
      if (giveBack) return Promise.resolve(giveBack);
      return new Promise((resolve) => {
        const end = (taken?: () => void): void => {
          clearTimeout(timer);
          waiting.delete(mine);
          resolve(taken);
        };
        const timer = setTimeout(end, within);
        const mine: Waiting = { organisation, admit: end };
        waiting.add(mine);
      });
    },
    /** Posts in progress. */
    taken: (): number => all,
    /** Posts that wait for a place. */
    waiting: (): number => waiting.size,
  };
}
