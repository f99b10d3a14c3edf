import { MINUTE } from '../units';

/**
 * Returns a function for metrics, which returns the last result of `count` without waiting and, if that is more than a minute old, counts
 * again in the background. It returns `first` before the first result, and the last one while the database is down.
 */
export function createLastKnown<T>(first: T, count: () => Promise<T>): () => T {
  let value = first;
  let countedAt = -Infinity;
  let counting: Promise<void> | undefined;
  return () => {
    if (performance.now() - countedAt > MINUTE) {
      counting ??= count()
        .then((result) => {
          value = result;
          countedAt = performance.now();
        })
        .catch(() => undefined)
        .finally(() => (counting = undefined));
    }
    return value;
  };
}
