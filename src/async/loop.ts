import { setTimeout as sleep } from 'node:timers/promises';

/* Background work of a gateway: rounds until it is stopped. */

interface LoopOptions {
  /** A round of work. Resolves with true if the next one follows at once. */
  readonly round: () => Promise<boolean>;
  /** Pause after a round, in milliseconds, which `wake` ends. */
  readonly every: number;
  /** Pause after a round that failed, in milliseconds (default: `every`). A `wake` during the pause ends it, one during the round does not. */
  readonly afterFailure?: number;
  /** Called if a round fails; the next one tries again. Must not throw, which would end the loop. */
  readonly onError: (error: unknown) => void;
}

/** A loop that `start` begins, once; its pauses do not keep the process running. */
export function createLoop({ round, every, afterFailure = every, onError }: LoopOptions) {
  const ending = new AbortController();
  let woken = new AbortController();
  let loop: Promise<void> | undefined;
  // a function, since TypeScript assumes that a variable does not change during an await
  const isEnding = (): boolean => ending.signal.aborted;

  async function run(): Promise<void> {
    while (!isEnding()) {
      woken = new AbortController();
      let pause = every;
      try {
        if (await round()) continue;
      } catch (error) {
        onError(error);
        pause = afterFailure;
        // what woke it in this round is no reason to repeat the failure at once
        woken = new AbortController();
      }
      if (!isEnding()) await sleep(pause, undefined, { signal: woken.signal, ref: false }).catch(() => undefined);
    }
  }

  return {
    start: (): void => {
      loop ??= run();
    },
    /** Begins the next round at once, or as soon as the present one has succeeded. */
    wake: (): void => {
      woken.abort();
    },
    /** Aborts when the loop is stopped. */
    ending: ending.signal,
    isEnding,
    /** Ends the loop for good. Resolves when the present round has ended. */
    async stop(): Promise<void> {
      ending.abort();
      woken.abort();
      await loop;
    },
  };
}
