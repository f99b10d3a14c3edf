/*
 * Usage by operation and by error code: counters of a row of usage, by their path in it (docs/decisions/request-log.md).
 * Operations and codes come from bounded sets and have no dots.
 */

/** Counters by path, as `$inc` takes them. */
export type Details = ReadonlyMap<string, number>;

/** A request as usage counts it. */
export interface CountedRequest {
  /** The outcome: a 429, another error, or neither. */
  readonly outcome: 'ok' | 'error' | 'rate_limited';
  readonly isMcp?: boolean;
  /** Label of the operation (src/metrics). */
  readonly operation: string;
  /** Error code. */
  readonly code?: string | undefined;
  readonly ms: number;
}

/** Requests of one operation. */
export interface OperationUsage {
  readonly operation: string;
  readonly requests: number;
  readonly errors: number;
  readonly rate_limited: number;
  /** Median and 95th percentile in milliseconds, estimated from buckets; null without a request that was not a 429. */
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
}

/** Failed requests with one error code. */
export interface CodeUsage {
  readonly code: string;
  readonly requests: number;
}

/** What a row of usage has of it; one from before this was counted has nothing. */
export interface DetailColumns {
  readonly operations?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly codes?: Readonly<Record<string, number>>;
}

/** Upper bounds of the buckets of latency, in milliseconds; the last bucket has none. */
const BOUNDS = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000] as const;

/** The counters that a request adds one to. */
export function pathsOf({ outcome, operation, code, ms }: CountedRequest): string[] {
  const path = `operations.${operation}`;
  const paths = [`${path}.requests`];
  if (outcome !== 'ok') paths.push(`${path}.${outcome === 'error' ? 'errors' : 'rate_limited'}`);
  // a 429 takes no time, and would make a slow operation look fast
  if (outcome !== 'rate_limited') paths.push(`${path}.t${String(bucketOf(ms))}`);
  if (code !== undefined) paths.push(`codes.${code}`);
  return paths;
}

function bucketOf(ms: number): number {
  const at = BOUNDS.findIndex((bound) => ms <= bound);
  return at === -1 ? BOUNDS.length : at;
}

/** The operations of rows, most requests first. */
export function operationsOf(rows: readonly DetailColumns[]): OperationUsage[] {
  const sums = new Map<string, Map<string, number>>();
  for (const { operations = {} } of rows) {
    for (const [operation, counts] of Object.entries(operations)) {
      const sum = sums.get(operation) ?? new Map<string, number>();
      sums.set(operation, sum);
      for (const [name, count] of Object.entries(counts)) sum.set(name, (sum.get(name) ?? 0) + count);
    }
  }
  const all = [...sums].map(([operation, sum]): OperationUsage => {
    const [requests, errors, rate_limited] = ['requests', 'errors', 'rate_limited'].map((name) => sum.get(name) ?? 0);
    const buckets = Array.from({ length: BOUNDS.length + 1 }, (_, at) => sum.get(`t${String(at)}`) ?? 0);
    const counts = { requests: requests ?? 0, errors: errors ?? 0, rate_limited: rate_limited ?? 0 };
    return { operation, ...counts, p50_ms: percentile(buckets, 0.5), p95_ms: percentile(buckets, 0.95) };
  });
  return all.sort((one, other) => other.requests - one.requests || compare(one.operation, other.operation));
}

/** The error codes of rows, most requests first. */
export function codesOf(rows: readonly DetailColumns[]): CodeUsage[] {
  const sums = new Map<string, number>();
  for (const { codes = {} } of rows) {
    for (const [code, count] of Object.entries(codes)) sums.set(code, (sums.get(code) ?? 0) + count);
  }
  const all = [...sums].map(([code, requests]) => ({ code, requests }));
  return all.sort((one, other) => other.requests - one.requests || compare(one.code, other.code));
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** A percentile, as if the requests of a bucket were spread evenly over it; the last bucket counts as its lower bound. */
function percentile(buckets: readonly number[], share: number): number | null {
  const total = buckets.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = total * share;
  for (const [at, count] of buckets.entries()) {
    const [from, to] = [BOUNDS[at - 1] ?? 0, BOUNDS[at]];
    if (to === undefined) return from;
    if (left <= count) return Math.round((from + (to - from) * (left / count)) * 10) / 10;
    left -= count;
  }
  return null;
}
