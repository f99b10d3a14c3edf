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
