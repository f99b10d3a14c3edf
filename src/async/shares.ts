/* Counts what callers and organisations hold at once, under limits (limits.ts, docs/decisions/shares.md). */

/** Whose limit it is: that of all together, of an organisation, or of a caller. */
export type Whose = 'all' | 'organisation' | 'caller';

/** The most units at once; limits are checked in the order in which they are listed. */
export type Limits = Readonly<Partial<Record<Whose, number>>>;

/** Ids of the organisation and the caller that hold something: those of callers differ between organisations. A missing one has no limit. */
export type Owner = Readonly<Partial<Record<Exclude<Whose, 'all'>, string>>>;

export function createShares(limits: Limits) {
  const bounds = Object.entries(limits) as [Whose, number][];
  const counts = Object.fromEntries(
    ['all', 'organisation', 'caller'].map((whose) => [whose, new Map<string, number>()]),
  ) as Record<Whose, Map<string, number>>;
  const held = (whose: Whose, name = ''): number => counts[whose].get(name) ?? 0;

  function exceeded(owner: Owner, units = 1, ownUnits = 0): Whose | undefined {
    const bound = bounds.find(([whose, most]) => {
      const count = held(whose, whose === 'all' ? '' : owner[whose]);
      return count + units > most && count > ownUnits;
    });
    return bound?.[0];
  }

  function add(owner: Owner, units: number): void {
    for (const [whose, name] of Object.entries({ all: '', ...owner }) as [Whose, string][]) {
      const count = held(whose, name) + units;
      if (count === 0) counts[whose].delete(name);
      else counts[whose].set(name, count);
    }
  }

  function hold(owner: Owner): () => void {
    add(owner, 1);
    let isHeld = true;
    return () => {
      if (isHeld) add(owner, -1);
      isHeld = false;
    };
  }

  return {
    /**
     * The limit that `units` more would exceed; undefined if none. `ownUnits` is what the same request holds already: a limit towards which
     * nothing else counts is never exceeded, so that a single large request is not refused.
     */
    exceeded,
    /** Counts units, whatever the limits are; fewer if negative. */
    add,
    /** Counts a unit, whatever the limits are. Returns the function that gives it back; only its first call does. */
    hold,
    /** Like {@link hold}; undefined, and counts nothing, if a limit would be exceeded. */
    take: (owner: Owner): (() => void) | undefined => (exceeded(owner) ? undefined : hold(owner)),
    /** What one holds; `held('all')` is what all hold together. */
    held,
    /** Organisations that are at their limit. */
    full: (): string[] =>
      [...counts.organisation].flatMap(([name, count]) => (count >= (limits.organisation ?? Infinity) ? [name] : [])),
  };
}
