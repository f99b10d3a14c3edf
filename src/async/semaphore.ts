/** Runs work with limited concurrency; the rest waits in order. */
export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * How long work can hold its slot, in milliseconds; longer than any of the driver's timeouts. A command written to a
 * connection that was just closed never ends, and must not block its slot forever.
 */
const LONGEST = 60_000;

export function createSemaphore(most: number, longest = LONGEST): Semaphore {
  const waiting: (() => void)[] = [];
  let passing = 0;

  function leave(): void {
    const next = waiting.shift();
    // the next one in line takes over the slot
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
