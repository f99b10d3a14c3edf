import { HOUR, MINUTE } from '../units';
import type { KeyUsage, UsageEntry } from './keyUsage';
import type { UsageCounts } from './models';

/** The outcome of a request: a 429, another error, or neither. */
export type UsageOutcome = 'ok' | 'error' | 'rate_limited';

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

type Entry = { -readonly [Name in keyof UsageEntry]: UsageEntry[Name] };

/**
 * Counts the requests of keys in memory and writes the counts once a minute, in one command, so that no request waits for it.
 * Only if as many counters as it holds fill up again while that is still being written are further keys not counted, which is said.
 */
export function createUsageCounter({ usage, onError, onUncounted, capacity = CAPACITY }: UsageCounterOptions) {
  let counts = new Map<string, Entry>();
  let uncounted = 0;
  /** Whether a write was begun because the counters were used up, and none has succeeded since. */
  let isFull = false;
  let writing: Promise<void> = Promise.resolve();

  function add(keyId: string, hour: number, delta: UsageCounts): void {
    const name = `${keyId}:${String(hour)}`;
    let entry = counts.get(name);
    if (!entry) {
      if (counts.size >= capacity) {
        uncounted += delta.requests;
        return;
      }
      entry = { keyId, hour: new Date(hour), requests: 0, errors: 0, rate_limited: 0, mcp: 0 };
      counts.set(name, entry);
    }
    entry.requests += delta.requests;
    entry.errors += delta.errors;
    entry.rate_limited += delta.rate_limited;
    entry.mcp = (entry.mcp ?? 0) + (delta.mcp ?? 0);
  }

  async function write(): Promise<void> {
    if (uncounted > 0) onUncounted(uncounted);
    uncounted = 0;
    if (counts.size === 0) return;
    const taken = [...counts.values()];
    counts = new Map();
    try {
      await usage.add(taken);
      isFull = false;
    } catch (error) {
      for (const entry of taken) add(entry.keyId, entry.hour.getTime(), entry);
      onError(error);
    }
  }

  /** One write at a time, so that a slow database does not get more work. */
  const flush = (): Promise<void> => (writing = writing.then(write));
  const timer = setInterval(() => void flush(), MINUTE).unref();

  return {
    /** Counts a finished request; never blocks or fails. */
    count(keyId: string, outcome: UsageOutcome, isMcp = false): void {
      const hour = Math.floor(Date.now() / HOUR) * HOUR;
      const [errors, rate_limited] = [Number(outcome === 'error'), Number(outcome === 'rate_limited')];
      add(keyId, hour, { requests: 1, errors, rate_limited, mcp: Number(isMcp) });
      if (counts.size < capacity || isFull) return;
      isFull = true;
      void flush();
    },
    /** Stops counting and writes what is left. */
    async stop(): Promise<void> {
      clearInterval(timer);
      await flush();
    },
  };
}
