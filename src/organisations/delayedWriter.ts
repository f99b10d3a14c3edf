import { inBackground } from '../async/background';

/**
 * Schedules writes of what is gathered in memory, so that no request waits for them. Only one runs at a time, so that a slow database
 * is not given more work. `write` must not reject.
 */
export function createDelayedWriter(after: number, write: () => Promise<void>) {
  let writing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  /** Writes now, or after the write in progress. */
  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    return (writing = inBackground(() => writing.then(write)));
  }

  return {
    /** Writes within `after` milliseconds. */
    schedule: (): void => {
      timer ??= setTimeout(() => void flush(), after).unref();
    },
    flush,
  };
}
