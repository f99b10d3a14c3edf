/** Runs work with limited concurrency; the rest waits in order, however much it is. Resolves and rejects as the work does. */
export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * How long work can hold its slot, in milliseconds; longer than any timeout of MongoDB's driver. A command that it wrote to a
 * connection that was just closed never ends, and must not block its slot forever.
 */
const LONGEST = 60_000;

/** `most` slots. Work that takes longer than `longest` milliseconds goes on without its slot, so more than `most` may then run. */
export function createSemaphore(most: number, longest = LONGEST): Semaphore {
  const waiting: (() => void)[] = [];
  let slotsTaken = 0;

  function giveUpSlot(): void {
    const next = waiting.shift();
    // the next one in line takes over the slot
    if (next) next();
    else slotsTaken -= 1;
  }

  return async (work) => {
    if (slotsTaken < most) slotsTaken += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    let hasSlot = true;
    const giveUpOnce = (): void => {
      if (hasSlot) giveUpSlot();
      hasSlot = false;
    };
    const timer = setTimeout(giveUpOnce, longest).unref();
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      giveUpOnce();
    }
  };
}
