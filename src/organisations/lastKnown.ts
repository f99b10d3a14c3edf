import { MINUTE } from '../units';

/**
 * Returns a function that gives metrics the last count without waiting, and counts again in the background if that is more than a
 * minute old. It returns `first` before the first count, and the last count while the database is down.
 */
export function lastKnownOf<T>(first: T, count: () => Promise<T>): () => T {
  let value = first;
  let counted = -Infinity;
  let counting: Promise<void> | undefined;
  return () => {
    if (performance.now() - counted > MINUTE) {
      counting ??= count()
        .then((count) => {
          [value, counted] = [count, performance.now()];
        })
        .catch(() => undefined)
        .finally(() => (counting = undefined));
    }
    return value;
  };
}
