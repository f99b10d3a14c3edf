import { eachCount, type UsageCounts, type UsageRow } from './usageRows';

/*
 * Usage by operation and by error code: counters within a row of usage, each named by its path (docs/decisions/request-log.md).
 * Operations come from a bounded set, and codes are words of at most 40 characters (gateway/recording.ts), so neither has a dot.
 */

/** Counters by path, as `$inc` takes them. */
export type Details = ReadonlyMap<string, number>;

export interface FinishedRequest {
  /** The outcome: a 429, another error, or neither. */
  readonly outcome: 'ok' | 'error' | 'rate_limited';
  readonly isMcp?: boolean;
  /** Label of the operation (src/metrics). */
  readonly operation: string;
  readonly code?: string | undefined;
  readonly ms: number;
}

export interface OperationUsage {
  readonly operation: string;
  readonly requests: number;
  readonly errors: number;
  readonly rate_limited: number;
  /** Median and 95th percentile in milliseconds, estimated from buckets; null if every request was a 429. */
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
}

export interface CodeUsage {
  readonly code: string;
  readonly requests: number;
}

/** What is counted in a period, and the time to answer. */
export interface UsageTotals extends Required<UsageCounts> {
  /** Median and 95th percentile in milliseconds, estimated from buckets; null if nothing was timed. */
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
}

/** The detail counters of a row of usage; missing in older rows. */
type DetailCounters = Pick<UsageRow, 'operations' | 'codes'>;

/** Upper bounds of the latency buckets, in milliseconds; the last bucket has none. Rows name a bucket by its position here, so other bounds need other names. */
export const LATENCY_BOUNDS = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000] as const;

/** The counters that a request adds one to. */
export function pathsOf({ outcome, operation, code, ms }: FinishedRequest): string[] {
  const path = `operations.${operation}`;
  const paths = [`${path}.requests`];
  if (outcome !== 'ok') paths.push(`${path}.${outcome === 'error' ? 'errors' : 'rate_limited'}`);
  // `t` and the index of its bucket; a 429 takes no time, and would make a slow operation look fast
  if (outcome !== 'rate_limited') paths.push(`${path}.t${String(bucketOf(ms))}`);
  if (code !== undefined) paths.push(`codes.${code}`);
  return paths;
}

function bucketOf(ms: number): number {
  const at = LATENCY_BOUNDS.findIndex((bound) => ms <= bound);
  return at === -1 ? LATENCY_BOUNDS.length : at;
}

/** Sums for each operation over rows. */
export function operationsOf(rows: readonly DetailCounters[]): OperationUsage[] {
  const names = new Set(rows.flatMap(({ operations = {} }) => Object.keys(operations)));
  const all = [...names].map((operation): OperationUsage => {
    const counters = sumOf(rows, ({ operations }) => operations?.[operation]);
    const { requests = 0, errors = 0, rate_limited = 0, ...times } = counters;
    return { operation, requests, errors, rate_limited, ...percentilesOf(times) };
  });
  return all.sort(byRequests(({ operation }) => operation));
}

export function totalsOf(rows: readonly (DetailCounters & UsageCounts)[]): UsageTotals {
  const totals = eachCount((name) => rows.reduce((sum, row) => sum + (row[name] ?? 0), 0));
  const operations = rows.flatMap((row) => Object.values(row.operations ?? {}));
  return { ...totals, ...percentilesOf(sumOf(operations, (counters) => counters)) };
}

export function codesOf(rows: readonly DetailCounters[]): CodeUsage[] {
  const sums = Object.entries(sumOf(rows, ({ codes }) => codes));
  return sums.map(([code, requests]) => ({ code, requests })).sort(byRequests(({ code }) => code));
}

function sumOf<Row>(
  rows: readonly Row[],
  countersOf: (row: Row) => Readonly<Record<string, number>> | undefined,
): Record<string, number> {
  const sums = new Map<string, number>();
  for (const row of rows)
    for (const [name, count] of Object.entries(countersOf(row) ?? {})) sums.set(name, (sums.get(name) ?? 0) + count);
  return Object.fromEntries(sums);
}

function byRequests<T extends { readonly requests: number }>(nameOf: (row: T) => string) {
  return (left: T, right: T): number =>
    right.requests - left.requests || (nameOf(left) < nameOf(right) ? -1 : Number(nameOf(left) > nameOf(right)));
}

/** Computed from the counters `t0`, `t1` and so on; others are ignored. */
function percentilesOf(counters: Readonly<Record<string, number>>): Pick<UsageTotals, 'p50_ms' | 'p95_ms'> {
  const buckets = Array.from({ length: LATENCY_BOUNDS.length + 1 }, (_, at) => counters[`t${String(at)}`] ?? 0);
  return { p50_ms: percentile(buckets, 0.5), p95_ms: percentile(buckets, 0.95) };
}

/** A percentile, as if the requests of a bucket were spread evenly over it; the last bucket counts as its lower bound. */
function percentile(buckets: readonly number[], share: number): number | null {
  const total = buckets.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let remaining = total * share;
  for (const [at, count] of buckets.entries()) {
    const from = LATENCY_BOUNDS[at - 1] ?? 0;
    const to = LATENCY_BOUNDS[at];
    if (to === undefined) return from;
    if (remaining <= count) return Math.round((from + (to - from) * (remaining / count)) * 10) / 10;
    remaining -= count;
  }
  return null;
}
