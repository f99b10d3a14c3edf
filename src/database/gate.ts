/** Runs work with limited concurrency; the rest waits in order. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * How long work can hold its slot, in milliseconds; longer than any of the driver's timeouts. A command written to a
 * connection that was just closed never ends, and must not block its slot forever.
 */
const LONGEST = 60_000;

export function createGate(most: number, longest = LONGEST): Gate {
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

/** Takes all places of a gate, so that work runs alone: after all work that is inside, and before any that arrives later. */
export function alone<T>(gate: Gate, places: number, work: () => Promise<T>): Promise<T> {
  let arrived = 0;
  let begin = (): void => undefined;
  const done = new Promise<void>((resolve) => (begin = resolve)).then(work);
  const arrive = (): Promise<T> => {
    arrived += 1;
    if (arrived === places) begin();
    return done;
  };
  // all requested at once, so of two such calls the first gets every place first
  return Promise.race(Array.from({ length: places }, () => gate(arrive)));
}
