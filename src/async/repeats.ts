/** Least time between two lines of one name, in milliseconds. */
const SAID_EVERY = 60_000;

/**
 * Returns a function to call each time that something happens, by its name, which decides whether to log it: the first time, and then at most once
 * a minute. It returns how often that has happened since it was last logged, or undefined if it is not to be logged now. Names must be few, since
 * none is forgotten.
 */
export function createRepeats() {
  const said = new Map<string, { at: number; times: number }>();
  return (name: string): number | undefined => {
    const { at, times } = said.get(name) ?? { at: -Infinity, times: 0 };
    const isDue = performance.now() - at >= SAID_EVERY;
    said.set(name, isDue ? { at: performance.now(), times: 0 } : { at, times: times + 1 });
    return isDue ? times + 1 : undefined;
  };
}
