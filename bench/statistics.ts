/** The value below which this share of the ascending values lies. */
export function quantile(ascending: readonly number[], share: number): number {
  const at = (ascending.length - 1) * share;
  const [below, above] = [ascending[Math.floor(at)] ?? NaN, ascending[Math.ceil(at)] ?? NaN];
  return below + (above - below) * (at - Math.floor(at));
}

export interface Spread {
  readonly median: number;
  /** Lower quartile; `high` is the upper one. */
  readonly low: number;
  readonly high: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((left, right) => left - right);
  return { median: quantile(sorted, 0.5), low: quantile(sorted, 0.25), high: quantile(sorted, 0.75) };
}
