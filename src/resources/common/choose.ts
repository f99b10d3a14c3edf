/** The value of a member after an upsert: the given value; the cleared value for null; the existing or cleared value if omitted. */
export function choose<T>(given: T | null | undefined, existing: T | undefined, cleared: T): T {
  if (given === undefined) return existing === undefined ? cleared : existing;
  return given ?? cleared;
}
