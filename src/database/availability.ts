import { SECOND } from '../units';
import { NoAnswerError, within } from '../within';

/*
 * Tracks which clusters respond. Requests for one that does not are rejected at once, so that memory does not grow and no
 * other cluster's requests wait (docs/decisions/clusters.md). Also tracks which clusters respond but refuse writes,
 * because a disk is full or locked or too many members are down: that is only reported, and no request is rejected.
 */

/** How often a cluster is checked, and how often while it is away, in milliseconds. */
const CHECK_EVERY = 5000;
const ASK_AGAIN = 200;
/** How often a write is tried, and how often after a failure until one succeeds, in milliseconds. */
const WRITE_EVERY = 10 * SECOND;
const WRITE_AGAIN = SECOND;
/** How long a write may take. */
const WRITTEN_WITHIN = 3 * SECOND;

export type Availability = ReturnType<typeof createAvailability>;

export interface AvailabilityOptions {
  readonly clusters: readonly string[];
  /** Gets the names of those that do not respond. */
  readonly away: Set<string>;
  readonly answers: (cluster: string) => Promise<boolean>;
  /** Called when a cluster goes away, and when it is back. */
  readonly onChange: (cluster: string, isAway: boolean) => void;
  /** Writes to a cluster. @throws why that is not possible */
  readonly write: (cluster: string) => Promise<unknown>;
  /** Called with the error when writes to a cluster fail, and with undefined when they succeed again. */
  readonly onWrites: (cluster: string, failure: unknown) => void;
}

export function createAvailability({ clusters, away, answers, onChange, write, onWrites }: AvailabilityOptions) {
  const readOnly = new Set<string>();
  const timers = new Map<string, NodeJS.Timeout>();
  let isStopped = false;

  async function ask(cluster: string): Promise<boolean> {
    const isThere = await answers(cluster);
    // its connections may have been closed meanwhile
    if (isStopped) return isThere;
    if (isThere === away.has(cluster)) {
      if (isThere) away.delete(cluster);
      else away.add(cluster);
      onChange(cluster, !isThere);
    }
    later(cluster, isThere ? CHECK_EVERY : ASK_AGAIN, () => ask(cluster));
    return isThere;
  }

  /** `failures`: how many writes have failed in a row. */
  async function tryWriting(cluster: string, failures = 0): Promise<void> {
    let failed = 0;
    // a cluster that does not respond is down, not read-only
    if (!away.has(cluster)) {
      const writing = write(cluster);
      try {
        await within(WRITTEN_WITHIN, writing);
        if (readOnly.delete(cluster)) onWrites(cluster, undefined);
      } catch (error) {
        if (isStopped) return;
        failed = (await ask(cluster)) ? failures + 1 : 0;
        // a single failure may be an election or a busy machine
        if (failed > 1 && !readOnly.has(cluster)) {
          readOnly.add(cluster);
          onWrites(cluster, error);
        }
        // one at a time, since a write that hangs keeps its connection
        if (failed > 1 && error instanceof NoAnswerError) await writing.catch(() => undefined);
      }
    }
    const isSoon = failed > 0 || readOnly.has(cluster);
    later(`write ${cluster}`, isSoon ? WRITE_AGAIN : WRITE_EVERY, () => tryWriting(cluster, failed));
  }

  function later(name: string, ms: number, work: () => Promise<unknown>): void {
    clearTimeout(timers.get(name));
    if (!isStopped) timers.set(name, setTimeout(() => void work(), ms).unref());
  }

  return {
    /** Whether the cluster did not respond when it was last checked. */
    isAway: (cluster: string): boolean => away.has(cluster),
    /** Whether it responds but refused the last writes. */
    isReadOnly: (cluster: string): boolean => readOnly.has(cluster) && !away.has(cluster),
    /** Checks the cluster now. */
    ask,
    /** Checks all clusters now, and from then on checks and writes to each regularly. */
    async start(): Promise<void> {
      for (const cluster of clusters) later(`write ${cluster}`, WRITE_EVERY, () => tryWriting(cluster));
      await Promise.all(clusters.map(ask));
    },
    stop(): void {
      isStopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
