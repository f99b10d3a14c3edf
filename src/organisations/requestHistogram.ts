import { SECOND } from '../units';
import { REQUESTS_KEPT_FOR } from './requestLimits';

/* The intervals in which requests of the log are counted (requestLog.ts). */

/** Lengths of an interval, in milliseconds. The longest divides REQUESTS_KEPT_FOR into fewer than {@link TOO_MANY}, so that one always fits. */
const LENGTHS = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10_800].map((seconds) => seconds * SECOND);
/** A period is as long as fewer intervals than this: an hour has 60, one each minute, and a little more if it ends now and its caller asked a moment ago. */
const TOO_MANY = 61;

export interface Intervals {
  /** Start of the first, a multiple of the length, in milliseconds since 1970. */
  readonly first: number;
  /** In milliseconds. */
  readonly length: number;
  readonly count: number;
}

export interface RequestHistogram {
  readonly interval_seconds: number;
  /** Every interval, oldest first. */
  readonly intervals: readonly { readonly start: Date; readonly successful: number; readonly failed: number }[];
}

/** Counts of rows in one interval; `at` is its index. */
export interface IntervalCount {
  readonly _id: { readonly at: number; readonly failed: boolean };
  readonly requests: number;
}

/**
 * Divides a period (ISO 8601; up to `now` by default) into intervals as short as their number allows, as far as rows of it are kept. It begins within
 * an interval, so that there is one more.
 */
export function intervalsOf(
  since: string | null | undefined,
  until: string | null | undefined,
  now: number,
): Intervals {
  const from = Math.max(since == null ? 0 : Date.parse(since), now - REQUESTS_KEPT_FOR);
  const to = Math.min(until == null ? now : Date.parse(until), now);
  const length = LENGTHS.find((candidate) => (to - from) / candidate < TOO_MANY) ?? REQUESTS_KEPT_FOR;
  const first = Math.floor(from / length) * length;
  return { first, length, count: Math.max(0, Math.ceil((to - first) / length)) };
}

export function histogramOf({ first, length, count }: Intervals, counted: readonly IntervalCount[]): RequestHistogram {
  const intervals = Array.from({ length: count }, (_, at) => ({
    start: new Date(first + at * length),
    successful: 0,
    failed: 0,
  }));
  for (const { _id, requests } of counted) {
    // its row may be from after `now`, as each gateway measures the database's clock by itself
    const interval = intervals[Math.min(_id.at, count - 1)];
    if (interval) interval[_id.failed ? 'failed' : 'successful'] += requests;
  }
  return { interval_seconds: length / SECOND, intervals };
}
