/** A linear trend, by least squares. */
export interface Slope {
  /** Per unit of `at`. */
  readonly slope: number;
  /** Its standard error. */
  readonly error: number;
  /** Mean of the values. */
  readonly level: number;
}

export function slopeOf(points: readonly { readonly at: number; readonly value: number }[]): Slope {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [middle, level] = [mean(points.map(({ at }) => at)), mean(points.map(({ value }) => value))];
  const spread = points.reduce((sum, { at }) => sum + (at - middle) ** 2, 0);
  const slope = points.reduce((sum, { at, value }) => sum + (at - middle) * (value - level), 0) / spread;
  const residue = points.reduce((sum, { at, value }) => sum + (value - level - slope * (at - middle)) ** 2, 0);
  return { slope, error: Math.sqrt(residue / (points.length - 2) / spread), level };
}
