/** The value of a member after an upsert: the given value; the cleared value for null; the existing or cleared value if omitted. */
export function choose<T>(given: T | null | undefined, existing: T | undefined, cleared: T): T {
  if (given === undefined && existing !== undefined) return existing;
  return given ?? cleared;
}

/** Members given in an upsert: omitted ones are unchanged, null clears them. */
export type Given<T> = { readonly [Member in keyof T]?: T[Member] | null };

/** Chooses each member of `cleared`. */
export function chooseAll<T extends object>(given: Given<NoInfer<T>>, existing: NoInfer<T> | undefined, cleared: T): T {
  const chosen = { ...cleared };
  for (const name in cleared) {
    const value = choose<T[typeof name]>(given[name], existing?.[name], cleared[name]);
    if (value !== cleared[name]) chosen[name] = value;
  }
  return chosen;
}
