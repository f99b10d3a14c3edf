/** A round maximum for an axis: one of `steps` times a power of ten. */
export function axisTop(highest: number, steps: readonly number[]): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(highest, 1)));
  return steps.map((step) => step * power).find((top) => top >= highest) ?? 10 * power;
}
