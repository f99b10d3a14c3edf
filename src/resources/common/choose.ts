/** A member of an upsert: as given; its cleared value for null; what stands there, if anything, when it was left out. */
export function choose<T>(given: T | null | undefined, existing: T | undefined, cleared: T): T {
  if (given === undefined) return existing === undefined ? cleared : existing;
  return given ?? cleared;
}
