import { MINUTE } from '../units';

/**
 * What was counted at most a minute or a reading ago, for metrics: without waiting, `first` until it was counted, and as it was while
 * the database is away, which is said elsewhere.
 */
export function lastKnownOf<T>(first: T, count: () => Promise<T>): () => T {
  let known = first;
  let counted = -Infinity;
  let counting: Promise<void> | undefined;
  return () => {
    if (performance.now() - counted > MINUTE) {
      counting ??= count()
        .then((found) => {
          [known, counted] = [found, performance.now()];
        })
        .catch(() => undefined)
        .finally(() => (counting = undefined));
    }
    return known;
  };
}
