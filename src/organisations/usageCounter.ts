import { HOUR, MINUTE } from '../units';
import { type KeyUsage, PartlyAdded, type UsageEntry } from './keyUsage';
import { type CountedRequest, pathsOf } from './usageDetails';

export interface UsageCounterOptions {
  readonly usage: Pick<KeyUsage, 'add'>;
  /** Called when a write fails; its counts are included in the next one. */
  readonly onError: (error: unknown) => void;
  /** Called with the number of requests that were not counted, because the database is slower than keys are new. */
  readonly onUncounted: (requests: number) => void;
  /** Counters (one per key and hour) to hold; when they are used up, they are written at once. */
  readonly capacity?: number;
}

/** 10,000 counters take about 2 MB. */
const CAPACITY = 10_000;
/** Details to hold for each counter of the capacity, in the mean; 60,000 take about 9 MB. */
const DETAILS_EACH = 6;

const COUNTS = ['requests', 'errors', 'rate_limited', 'mcp'] as const;

type Units = UsageEntry['units'];
type Entry = { -readonly [Name in keyof Omit<UsageEntry, 'details'>]: UsageEntry[Name] } & {
  readonly details: Map<string, number>;
};

/**
 * Counts the requests of keys and organisations in memory and writes the counts once a minute, in one command, so that no request
 * waits for it. Only if as many counters as it holds fill up again while that is still being written are further keys not counted,
 * which is said; details by operation and code that it has no room for are left out.
 */
export function createUsageCounter({ usage, onError, onUncounted, capacity = CAPACITY }: UsageCounterOptions) {
  let counts = new Map<string, Entry>();
  /** Details held. */
  let details = 0;
  let uncounted = 0;
  /** Whether a write was begun because the counters were used up, and none has succeeded since. */
  let isFull = false;

  /** The counter of an hour; undefined if there is no room for another. */
  function entryOf(keyId: string, hour: number, units?: Units): Entry | undefined {
    const name = [keyId, hour, ...(units ?? [])].join(':');
    const known = counts.get(name);
    if (known || counts.size >= capacity) return known;
    const counted = { requests: 0, errors: 0, rate_limited: 0, mcp: 0 };
    const entry: Entry = { keyId, hour: new Date(hour), ...counted, details: new Map(), ...(units && { units }) };
    counts.set(name, entry);
    return entry;
  }

  function addDetail(to: Map<string, number>, path: string, more: number): void {
    const known = to.get(path);
    if (known === undefined) {
      if (details >= capacity * DETAILS_EACH) return;
      details += 1;
    }
    to.set(path, (known ?? 0) + more);
  }

  /** Adds counts to those of an hour, if there is room for them. */
  function add({ keyId, hour, units, ...counted }: Omit<UsageEntry, 'hour'> & { readonly hour: number }): void {
    const entry = entryOf(keyId, hour, units);
    if (!entry) {
      uncounted += counted.requests;
      return;
    }
    for (const name of COUNTS) entry[name] = (entry[name] ?? 0) + (counted[name] ?? 0);
    for (const [path, count] of counted.details ?? []) addDetail(entry.details, path, count);
  }

  async function write(): Promise<void> {
    if (uncounted > 0) onUncounted(uncounted);
    uncounted = 0;
    if (counts.size === 0) return;
    const taken = [...counts.values()];
    counts = new Map();
    details = 0;
    try {
      await usage.add(taken);
      isFull = false;
    } catch (error) {
      for (const entry of error instanceof PartlyAdded ? error.left : taken)
        add({ ...entry, hour: entry.hour.getTime() });
      onError(error);
    }
  }

  const { flush, stop } = createWriter(MINUTE, write);

  return {
    /** Counts a finished request for each of the ids: of keys, and of organisations (organisationUsageId); never blocks or fails. */
    count(ids: readonly string[], request: CountedRequest): void {
      const hour = Math.floor(Date.now() / HOUR) * HOUR;
      const details = new Map(pathsOf(request).map((path) => [path, 1]));
      const [errors, rate_limited] = [Number(request.outcome === 'error'), Number(request.outcome === 'rate_limited')];
      const counted = { hour, requests: 1, errors, rate_limited, mcp: Number(request.isMcp ?? false), details };
      for (const keyId of ids) add({ keyId, ...counted });
      if (counts.size < capacity || isFull) return;
      isFull = true;
      void flush();
    },
    /** Stops counting and writes what is left. */
    stop,
  };
}

/** Calls `write` every so many milliseconds, one call at a time, so that a slow database does not get more work. `write` never rejects. */
export function createWriter(every: number, write: () => Promise<void>) {
  let writing: Promise<void> = Promise.resolve();
  const flush = (): Promise<void> => (writing = writing.then(write));
  const timer = setInterval(() => void flush(), every).unref();
  return {
    /** Calls it now, or after the call that goes on. */
    flush,
    /** Calls it once more, and then no longer. */
    stop: async (): Promise<void> => {
      clearInterval(timer);
      await flush();
    },
  };
}
