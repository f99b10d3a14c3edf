import { MINUTE } from '../units';
import type { KeyUsage, UsageEntry } from './keyUsage';
import { type FinishedRequest, pathsOf } from './usageDetails';
import { eachCount, USAGE_COUNTS } from './usageRows';
import { organisationInUsageId, startOf } from './usageUnits';
import { createDelayedWriter } from './delayedWriter';

export interface UsageCounterOptions {
  readonly usage: Pick<KeyUsage, 'add'>;
  /** The database's time, in milliseconds since 1970. */
  readonly now: () => number;
  /** Called when a write fails; the next write includes its counts. */
  readonly onError: (error: unknown) => void;
  /** Called with the number of requests that are missing from keys' usage, because more counters were needed than there is room for before they are stored. */
  readonly onUncounted: (requests: number) => void;
  /** How many counters (one per key and five minutes) to hold; when all are in use, they are written at once. */
  readonly capacity?: number;
}

/** 10,000 counters take about 2 MB. */
const CAPACITY = 10_000;
/** Details to hold per counter, on average; 60,000 take about 9 MB. */
const DETAILS_EACH = 6;

/** A counter in memory, whose counts can change. */
type Entry = { -readonly [Name in keyof Omit<UsageEntry, 'details'>]: UsageEntry[Name] } & {
  readonly details: Map<string, number>;
};

/**
 * Counts the requests of keys and organisations in memory and writes the counts once a minute, in one command, so that no request
 * waits. If all counters fill up again during a write, further keys are not counted, which is reported; details by operation and
 * code beyond the capacity are dropped.
 */
export function createUsageCounter({ usage, now, onError, onUncounted, capacity = CAPACITY }: UsageCounterOptions) {
  let counts = new Map<string, Entry>();
  /** Of all entries together. */
  let details = 0;
  let uncounted = 0;
  /** Whether running out of counters caused a write, and no write has succeeded since. */
  let isFull = false;

  /** Adds counts to those of their key and time, if there is room. Counts that lack only some units have an entry for each of these. */
  function add({ keyId, at, units, details: more, ...counted }: UsageEntry): void {
    const name = [keyId, at.getTime(), ...(units ?? [])].join(':');
    const existing = counts.get(name);
    if (!existing && counts.size >= capacity) {
      // once for a request, which counts for its organisation, too, and may have an entry for each unit
      const isOfKey = organisationInUsageId(keyId) === undefined;
      if (isOfKey && (units?.includes('day') ?? true)) uncounted += counted.requests;
      return;
    }
    const entry: Entry = existing ?? { keyId, at, ...eachCount(() => 0), details: new Map(), ...(units && { units }) };
    counts.set(name, entry);
    for (const count of USAGE_COUNTS) entry[count] = (entry[count] ?? 0) + (counted[count] ?? 0);
    for (const [path, count] of more ?? []) {
      const before = entry.details.get(path);
      if (before === undefined && details >= capacity * DETAILS_EACH) continue;
      if (before === undefined) details += 1;
      entry.details.set(path, (before ?? 0) + count);
    }
    schedule();
  }

  const { schedule, flush } = createDelayedWriter(MINUTE, async () => {
    if (uncounted > 0) onUncounted(uncounted);
    uncounted = 0;
    if (counts.size === 0) return;
    const batch = [...counts.values()];
    counts = new Map();
    details = 0;
    const unstored = await usage.add(batch, onError).catch((error: unknown) => {
      onError(error);
      return batch;
    });
    if (unstored.length === 0) isFull = false;
    for (const entry of unstored) add(entry);
  });

  return {
    /** Counts a finished request for ids of keys and of organisations (organisationUsageId); never blocks or fails. */
    count(ids: readonly string[], request: FinishedRequest): void {
      const at = new Date(startOf(now(), 'five_minutes'));
      const details = new Map(pathsOf(request).map((path) => [path, 1]));
      const counted = {
        at,
        requests: 1,
        errors: Number(request.outcome === 'error'),
        rate_limited: Number(request.outcome === 'rate_limited'),
        mcp: Number(request.isMcp ?? false),
        details,
      };
      for (const keyId of ids) add({ keyId, ...counted });
      if (counts.size < capacity || isFull) return;
      isFull = true;
      void flush();
    },
    /** Writes what is counted; resolves also if that fails. */
    stop: flush,
  };
}
