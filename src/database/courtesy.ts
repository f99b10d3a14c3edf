import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';

/** How many rows to decode at once; decoding blocks the event loop. */
export const ROWS_PER_PIECE = 250;
/** How long work on many elements runs before it gives way, in milliseconds. */
const SLICE = 10;
/** Maximum wait between two pieces of heavy work, in milliseconds, so that others slow it down but never stop it. */
const LONGEST = 20;

export type Courtesy = ReturnType<typeof createCourtesy>;

/** Called before each of many elements; returns a promise to await if the work has held the event loop for long enough. */
export type Pace = () => Promise<void> | undefined;

/** Slices work by time, since callers decide what an element costs. */
export function paceOf(giveWay: () => Promise<void>, slice = SLICE): Pace {
  let until = performance.now() + slice;
  const pause = async (): Promise<void> => {
    await giveWay();
    until = performance.now() + slice;
  };
  return () => (performance.now() < until ? undefined : pause());
}

/**
 * Pauses between pieces of heavy work. A read takes about five turns of the event loop, and would wait for one piece in
 * each of them (docs/decisions/bodies-and-fairness.md).
 */
export function createCourtesy() {
  let othersAsk = (_organisationId: string): boolean => false;
  let last = Promise.resolve();
  return {
    /**
     * Waits until every earlier piece has had its own turn of the event loop. Node accepts one connection a turn, so several
     * pieces in one turn would delay each new caller by their sum.
     */
    ownTurn: (): Promise<void> => (last = last.then(() => turn())),
    /** Waits one turn of the event loop, and longer while other organisations have requests in progress. */
    giveWay: async (organisationId: string): Promise<void> => {
      await turn();
      const until = performance.now() + LONGEST;
      while (othersAsk(organisationId) && performance.now() < until) await sleep(1);
    },
    /** Sets the function that says whether organisations other than a given one have requests in progress. */
    giveWayTo: (judge: (organisationId: string) => boolean): void => {
      othersAsk = judge;
    },
  };
}
