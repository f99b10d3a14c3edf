import { SECOND } from '../units';
import { KEPT } from './requestLimits';

/* The intervals in which requests of the log are counted (requestLog.ts). */

/** Lengths of an interval, in milliseconds; by the longest, the whole time for which rows are kept has fewer than {@link MOST}. */
const LENGTHS = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10_800].map((seconds) => seconds * SECOND);
/** For an hour by minutes, even if it was asked for a moment ago. */
const MOST = 61;

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

/** Counts of rows in one interval, by its index. */
export interface IntervalCount {
  readonly _id: { readonly at: number; readonly failed: boolean };
  readonly requests: number;
}

/** Divides a period, as far as rows of it are kept, into intervals as short as their number allows: at most one more than {@link MOST}, as it begins within one. */
export function intervalsOf(
  since: string | null | undefined,
  until: string | null | undefined,
  now: number,
): Intervals {
  const from = Math.max(since == null ? 0 : Date.parse(since), now - KEPT);
  const to = Math.min(until == null ? now : Date.parse(until), now);
  const length = LENGTHS.find((candidate) => (to - from) / candidate < MOST) ?? KEPT;
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
    // the clock of the gateway that stored it may be ahead
    const interval = intervals[Math.min(_id.at, count - 1)];
    if (interval) interval[_id.failed ? 'failed' : 'successful'] += requests;
  }
  return { interval_seconds: length / SECOND, intervals };
}
