/** In how many parts a wait is timed. */
const PARTS = 8;

/**
 * Stops waiting for an answer after a time, in milliseconds, in which this process ran. A timer that is late because the event loop
 * or the machine was held up says nothing of who is asked, so the wait is timed in parts, none of which counts more than its
 * length; and a busy event loop runs timers before it reads what has already arrived, so that is processed first.
 * @throws Error if there was none in time; the answer's own error
 */
export function within<T>(patience: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout;
    const wait = (parts: number): void => {
      timer = setTimeout(() => {
        if (parts > 1) wait(parts - 1);
        else
          setImmediate(() =>
            setImmediate(() => {
              reject(new NoAnswerError(`no answer within ${String(patience)} ms`));
            }),
          );
      }, patience / PARTS);
    };
    wait(PARTS);
    answer.then(resolve, reject).finally(() => {
      clearTimeout(timer);
    });
  });
}

/** Nobody answered in time, which is no answer either way. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}
