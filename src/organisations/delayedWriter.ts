import { inBackground } from '../async/background';

/**
 * Schedules writes of what is gathered in memory, so that no request waits for them. Only one runs at a time, and at most one waits for it, so
 * that a slow database is not given more work, nor all of it at once when it recovers. `write` must not reject. No timer keeps the process alive,
 * so call `flush` before it ends.
 */
export function createDelayedWriter(after: number, write: () => Promise<void>) {
  /** Resolves when the last write that was asked for has ended. */
  let last = Promise.resolve();
  /** The same while that write has not begun. */
  let next: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  function begin(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    next = undefined;
    return inBackground(write);
  }

  /** Writes after the caller has added all that it adds now, or after the write in progress, together with others that wait for it. */
  function flush(): Promise<void> {
    return (next ??= last = last.then(begin));
  }

  return {
    /** Writes within `after` milliseconds, or when the write that is then in progress has ended. */
    schedule: (): void => {
      timer ??= setTimeout(() => void flush(), after).unref();
    },
    flush,
  };
}
