/* The result of one part of the growth measurements: a table of figures and its goals. */

export interface GrowthGoal {
  /** `section/goal`, the key of the explanation in bench/misses.json if the goal is missed. */
  readonly name: string;
  readonly title: string;
  readonly wanted: string;
  readonly measured: string;
  readonly isMet: boolean;
}

export interface GrowthSection {
  readonly title: string;
  /** How it was measured. */
  readonly method: string;
  readonly headings: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly goals: readonly GrowthGoal[];
}

/** A goal with an upper limit. */
export function atMost(
  name: string,
  title: string,
  { most, value, show }: { most: number; value: number; show: (value: number) => string },
): GrowthGoal {
  return { name, title, wanted: `at most ${show(most)}`, measured: show(value), isMet: value <= most };
}
