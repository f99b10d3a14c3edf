/** Runs work, at most so many at once; others wait here for their turn, in their order. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Longest that work keeps its place, in milliseconds: longer than any of the driver's deadlines. A command that it was about
 * to write to a connection just closed never ends, and must not close the gate for good.
 */
const LONGEST = 60_000;

export function createGate(most: number, longest = LONGEST): Gate {
  const waiting: (() => void)[] = [];
  let passing = 0;

  function leave(): void {
    const next = waiting.shift();
    // whoever waits takes the place as it is
    if (next) next();
    else passing -= 1;
  }

  return async (work) => {
    if (passing < most) passing += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    let isInside = true;
    const leaveOnce = (): void => {
      if (isInside) leave();
      isInside = false;
    };
    const timer = setTimeout(leaveOnce, longest).unref();
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      leaveOnce();
    }
  };
}
