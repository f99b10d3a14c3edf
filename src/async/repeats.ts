/** In milliseconds. */
const SAID_EVERY = 60_000;

/**
 * Returns a function that decides whether to say that something has happened again: at once, and from then on once a minute. It returns how often
 * that has happened since it was last said, or undefined for nothing to say. There must be few names.
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
