/* What a part of the growth measurements hands to the report: a table of figures and its goals. */

export interface GrowthGoal {
  /** `section/goal`, by which bench/misses.json names the reason of a miss. */
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

/** A goal that a figure stays at or under. */
export function atMost(
  name: string,
  title: string,
  { most, value, show }: { most: number; value: number; show: (value: number) => string },
): GrowthGoal {
  return { name, title, wanted: `at most ${show(most)}`, measured: show(value), isMet: value <= most };
}
