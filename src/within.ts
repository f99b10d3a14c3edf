/**
 * Stops waiting for an answer after a time, in milliseconds. A busy event loop runs the timer before it reads what has
 * already arrived, so that is processed first: a burst must not count as no answer.
 * @throws Error if there was none in time; the answer's own error
 */
export function within<T>(patience: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      setImmediate(() =>
        setImmediate(() => {
          reject(new Error(`no answer within ${String(patience)} ms`));
        }),
      );
    }, patience);
    answer.then(resolve, reject).finally(() => {
      clearTimeout(timer);
    });
  });
}
