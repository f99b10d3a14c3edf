/**
 * Writes what is gathered in memory, so that no request waits for it: one write at a time, so that a slow database does not get more
 * work. `write` never rejects.
 */
export function createWriter(after: number, write: () => Promise<void>) {
  let writing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  /** Writes now, or after the write that goes on. */
  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    return (writing = writing.then(write));
  }

  return {
    /** There is something to write: it is, so many milliseconds after the first. */
    soon: (): void => {
      timer ??= setTimeout(() => void flush(), after).unref();
    },
    flush,
  };
}
