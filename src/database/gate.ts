/** Runs work, at most so many at once; others wait here for their turn, in their order. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

export function createGate(most: number): Gate {
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
    try {
      return await work();
    } finally {
      leave();
    }
  };
}
