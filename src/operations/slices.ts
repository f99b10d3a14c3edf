import { SLICE } from '../async/yield';
import type { CallContext } from './context';

/*
 * Work in resolvers that callers can make long. A query's resolvers all run in one turn of the event loop, so work that has held it for long
 * enough goes on in another.
 */

interface Slices {
  /** When the work of the current turn began, by performance.now(); undefined if none has. */
  since: number | undefined;
  /** The last work of the request that waits for another turn; undefined if none waits. */
  last: Promise<unknown> | undefined;
}

const slicesOf = new WeakMap<CallContext, Slices>();

/** Does work at once, or after all earlier work of the request that waits for another turn of the event loop. */
export function inSlices<T>(context: CallContext, work: () => T): T | Promise<T> {
  let slices = slicesOf.get(context);
  if (!slices) slicesOf.set(context, (slices = { since: undefined, last: undefined }));
  if (!slices.last && !hasUsedSlice(slices)) return work();
  const waiting = afterwards(context, slices, work);
  slices.last = waiting;
  const end = (): void => {
    if (slices.last === waiting) slices.last = undefined;
  };
  waiting.then(end, end);
  return waiting;
}

async function afterwards<T>({ pauses }: Pick<CallContext, 'pauses'>, slices: Slices, work: () => T): Promise<T> {
  await slices.last?.catch(() => undefined);
  // asked again after the wait: other work of the request may have used up the new turn's slice
  while (hasUsedSlice(slices)) {
    await pauses.yieldToOthers();
    // slices of other requests must not share the turn
    await pauses.yieldTurn();
  }
  return work();
}

function hasUsedSlice(slices: Slices): boolean {
  const now = performance.now();
  if (slices.since !== undefined) return now - slices.since > SLICE;
  slices.since = now;
  setImmediate(() => (slices.since = undefined));
  return false;
}
