import { trusted } from 'mongoose';

type Time = string | null | undefined;

/** Matches times from `since` on and before `until`, in ISO 8601, as far as they are given; undefined if neither is. */
export function between(since: Time, until: Time) {
  if (since == null && until == null) return undefined;
  return trusted({
    ...(since != null && { $gte: new Date(since) }),
    ...(until != null && { $lt: new Date(until) }),
  });
}

/** The filters that are neither null nor undefined. */
export const withoutMissing = <T extends object>(filters: T): Partial<T> =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value != null)) as Partial<T>;
