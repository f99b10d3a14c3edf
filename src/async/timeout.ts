/** How many consecutive timers a timeout is split into: a stall, however long, uses up an eighth of it, and eight timers cost next to nothing. */
const PARTS = 8;

/**
 * Resolves and rejects as `answer` does, or rejects once this process has been running for `timeout` milliseconds; the work behind `answer` goes on.
 * A timer that fires late because the event loop or the machine stalled says nothing about the other side, so the timeout is split into
 * {@link PARTS}. A busy event loop also runs timers before pending I/O, so I/O gets a turn before this gives up.
 * @throws NoAnswerError; the answer's own error
 */
export function within<T>(timeout: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout;
    const wait = (parts: number): void => {
      timer = setTimeout(() => {
        if (parts > 1) wait(parts - 1);
        // two turns, chosen: an answer of more than 64 KiB takes several reads
        else
          setImmediate(() =>
            setImmediate(() => {
              reject(new NoAnswerError(`no answer within ${String(timeout)} ms`));
            }),
          );
      }, timeout / PARTS);
    };
    wait(PARTS);
    answer.then(resolve, reject).finally(() => {
      clearTimeout(timer);
    });
  });
}

/** No answer came in time, so the outcome is unknown. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}
