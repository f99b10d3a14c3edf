import { pause, persist } from './patience.js';

/** Seconds from the start of a read to the start of the next. */
const EVERY = 1;

/**
 * Reads what is out of date: one read at a time and at most one a second, however often something is marked. What is marked during a
 * read is read again, since the read may have missed it.
 */
export function createReads({ read, signal, onWait, onStop }) {
  const stale = new Set();
  let isRunning = false;
  let current = new AbortController();

  /** A signal that `restart` aborts. */
  function renew() {
    current = new AbortController();
    return current.signal;
  }

  async function readStale() {
    const parts = [...stale];
    stale.clear();
    const replaced = renew();
    try {
      await read(parts, AbortSignal.any([signal, replaced]));
    } catch (problem) {
      for (const part of parts) stale.add(part);
      if (!replaced.aborted) throw problem;
    }
  }

  async function run() {
    try {
      while (stale.size > 0) {
        const spacing = pause(EVERY, signal);
        await persist(readStale, { signal, onWait, replaced: renew });
        await spacing;
        signal.throwIfAborted();
      }
    } finally {
      isRunning = false;
    }
  }

  function mark(parts) {
    for (const part of parts) stale.add(part);
    if (isRunning || stale.size === 0) return;
    isRunning = true;
    run().catch((problem) => signal.aborted || onStop(problem));
  }

  return {
    mark,
    /** Marks parts, and drops the read in progress or the wait for another attempt, which is about something else. */
    restart(parts) {
      current.abort();
      mark(parts);
    },
  };
}
