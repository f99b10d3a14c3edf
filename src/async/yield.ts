import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';

/*
 * How long work shares the event loop. A `Budget` bounds what is decoded and answered in each turn of it, for one organisation; a `Pace` bounds by
 * time what has no such measure; `Pauses` are both for one organisation, with waits that let other organisations' requests go first.
 */

/** How many rows to decode at once; decoding blocks the event loop. */
export const ROWS_PER_PIECE = 250;
/** How many bytes of rows to decode at once, and how many objects to put into an answer: each takes some milliseconds. */
const BYTES_PER_PIECE = 256 * 1024;
const OBJECTS_PER_PIECE = 2048;
/** The share of a piece that is for work that has not waited, so that an organisation's small requests do not queue behind its large ones. */
const RESERVED = 1 / 4;
/** How long work that may be long runs before others have their turn, in milliseconds. */
export const SLICE = 10;
/** Maximum wait between two pieces of heavy work, in milliseconds, so that others slow it down but never stop it. */
const LONGEST_WAIT = 20;

export type Yield = ReturnType<typeof createYield>;

/** Called before each of many elements; returns a promise to await if the work has held the event loop for long enough. */
export type Pace = () => Promise<void> | undefined;

/** A pace that gives way after each {@link SLICE}: by time, since callers decide what an element costs. */
export function paceOf(yieldToOthers: () => Promise<void>): Pace {
  let until = performance.now() + SLICE;
  const pause = async (): Promise<void> => {
    await yieldToOthers();
    until = performance.now() + SLICE;
  };
  return () => (performance.now() < until ? undefined : pause());
}

/**
 * Called before a row is decoded, with its bytes, and before objects are put into an answer, with their number. Returns a promise to await
 * if this turn of the event loop has had its piece.
 */
export type Budget = (work: { readonly bytes: number } | { readonly objects: number }) => Promise<void> | undefined;

/** Lets one piece through in each turn of the event loop; the rest waits, each piece for a turn of its own. */
export function createBudget(yieldTurn: () => Promise<void>): Budget {
  const waiting: { readonly cost: number; readonly begin: () => void }[] = [];
  /** What this turn has left of its piece, as a share of 1. */
  let left = 1;

  function letThrough(): void {
    left = 1;
    // a whole piece is left for the first, so that what is larger than one gets through, in a turn for itself
    for (let next = waiting[0]; next && (left === 1 || left - next.cost >= RESERVED); next = waiting[0]) {
      left -= next.cost;
      waiting.shift();
      next.begin();
    }
    setImmediate(onNextTurn);
  }

  function onNextTurn(): void {
    if (waiting.length > 0) void yieldTurn().then(letThrough);
    else left = 1;
  }

  return (work) => {
    const cost = 'bytes' in work ? work.bytes / BYTES_PER_PIECE : work.objects / OBJECTS_PER_PIECE;
    if (cost === 0) return undefined;
    if (left < 1 && cost > left) return new Promise((begin) => waiting.push({ cost, begin }));
    if (left === 1) setImmediate(onNextTurn);
    left -= cost;
    return undefined;
  };
}

/** How work for one organisation pauses. */
export interface Pauses {
  /** Waits for a turn of the event loop of its own, before work that blocks the loop for a while. */
  yieldTurn(): Promise<void>;
  /** Yields the event loop to others between two pieces of heavy work. */
  yieldToOthers(): Promise<void>;
  /** Lets rows be decoded, and put into answers, a piece in each turn of the event loop. */
  readonly budget: Budget;
}

/** Pauses of work for no organisation, which gives way to the requests of all: none has the empty id. */
export const pausesOf = ({ yieldTurn, yieldToOthers }: Yield): Pauses => ({
  yieldTurn,
  yieldToOthers: () => yieldToOthers(''),
  budget: createBudget(yieldTurn),
});

/**
 * Pauses between pieces of heavy work. A read takes about five turns of the event loop, and would wait for one piece in
 * each of them (docs/decisions/bodies-and-fairness.md).
 */
export function createYield() {
  let othersAsk = (_organisationId: string): boolean => false;
  let last = Promise.resolve();
  return {
    /**
     * Waits until every earlier piece has had its own turn of the event loop. Node accepts one connection a turn, so several
     * pieces in one turn would delay each new caller by their sum.
     */
    yieldTurn: (): Promise<void> => (last = last.then(() => turn())),
    /** Waits one turn of the event loop, and longer while other organisations have requests in progress. */
    yieldToOthers: async (organisationId: string): Promise<void> => {
      await turn();
      const until = performance.now() + LONGEST_WAIT;
      while (othersAsk(organisationId) && performance.now() < until) await sleep(1);
    },
    /** Sets the function that says whether organisations other than a given one have requests in progress. */
    yieldWhile: (judge: (organisationId: string) => boolean): void => {
      othersAsk = judge;
    },
  };
}
