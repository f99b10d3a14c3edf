import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import { createGate, type Gate } from '../database/gate';
import { AppError } from '../errors';
import type { EventRow } from './collection';
import type { EventPage } from './page';

/*
 * One stream of events: pages of the feed until it has caught up, then the rows it is notified of. Rows are inserted in order, so
 * notifications continue where the pages end (docs/decisions/subscription.md).
 */

/** Most bytes of events that are kept for a caller who does not read them. */
export const MOST_UNSENT = 256 * 1024;
/** How long a caller with unread events may take none, in milliseconds: a burst alone does not make it slow. */
export const MOST_IDLE = 5000;

/** Reads stored events after a position, once all up to a time of their cluster can be read. */
export type ReadEvents = (after: string, since: mongo.Timestamp | undefined) => Promise<EventPage>;

/** Stored events as they come. Throws the reason if it ends before the caller has left. */
export interface EventStream extends AsyncIterable<EventRow> {
  /** Aborts when it ends, also while an event is being sent. */
  readonly ended: AbortSignal;
}

export interface StreamOptions {
  readonly after: string;
  readonly read: ReadEvents;
  /** Resolves with the time after which it is notified of every event. */
  readonly listen: () => Promise<mongo.Timestamp | undefined>;
  /** Takes a point for each page but the first of those that it reads in a row. @throws AppError rate_limited */
  readonly pay: () => Promise<void>;
}

export function createFollowing({ after, read, listen, pay }: StreamOptions) {
  const ended = new AbortController();
  let unsent: { readonly row: EventRow; readonly bytes: number }[] = [];
  let bytesUnsent = 0;
  let isBehind = true;
  let isReading = false;
  let failure: { readonly reason: unknown } | undefined;
  let taken = 0;
  let idle: NodeJS.Timeout | undefined;
  let wake = (): void => undefined;
  // a function, since TypeScript assumes that a variable does not change during an await
  const isOver = (): boolean => ended.signal.aborted;

  function end(reason?: unknown): void {
    if (isOver()) return;
    if (reason !== undefined) failure = { reason };
    unsent = [];
    clearTimeout(idle);
    ended.abort();
    wake();
  }

  function forget(): void {
    unsent = [];
    bytesUnsent = 0;
  }

  /** Ends it if its caller takes nothing for a while, until it has read what it could not keep. */
  function expectTaking(): void {
    const before = taken;
    clearTimeout(idle);
    idle = setTimeout(() => {
      if (taken === before) end(new AppError('unavailable', tooSlow, { reason: 'unread' }));
      else expectTaking();
    }, MOST_IDLE);
  }

  /** Reads pages until there is nothing more. Resolves with the position up to which all is read. */
  async function* readOn(from: string): AsyncGenerator<EventRow, string> {
    let position = from;
    const since = await listen();
    for (let pages = 0, hasMore = true; hasMore && !isOver(); pages += 1) {
      if (pages > 0) await pay();
      const page = await read(position, since);
      for (const row of page.rows) {
        if (isOver()) break;
        yield row;
      }
      ({ hasMore, next: position } = page);
    }
    return position;
  }

  async function* rows(): AsyncGenerator<EventRow> {
    let position = after;
    let readUpTo = after;
    try {
      while (!isOver()) {
        if (isBehind) {
          [isBehind, isReading] = [false, true];
          readUpTo = position = yield* readOn(position);
          isReading = false;
          clearTimeout(idle);
          continue;
        }
        const next = unsent.shift();
        if (!next) {
          await new Promise<void>((resolve) => (wake = resolve));
          continue;
        }
        bytesUnsent -= next.bytes;
        if (next.row._id <= readUpTo) continue;
        position = next.row._id;
        yield next.row;
        taken += 1;
      }
    } finally {
      end();
    }
    if (failure) throw failure.reason;
  }

  return {
    stream: { ended: ended.signal, [Symbol.asyncIterator]: rows } satisfies EventStream,
    /** Notifies it of a row, with its size in bytes. */
    notify: (row: EventRow, bytes: number): void => {
      // it will read the row from a page
      if (isOver() || isBehind) return;
      if (bytesUnsent + bytes > MOST_UNSENT) {
        // from then on its caller gets pages, as fast as it takes them
        forget();
        isBehind = true;
        if (!isReading) expectTaking();
        return;
      }
      unsent.push({ row, bytes });
      bytesUnsent += bytes;
      wake();
    },
    /** Makes it read pages again, since it may have missed a row. */
    catchUp: (): void => {
      forget();
      isBehind = true;
      wake();
    },
    /** Ends it, with a reason unless its caller has left. */
    end,
  };
}

/** How many streams of an organisation, and of a gateway, read what they have missed at once. */
const AT_ONCE = { organisation: 4, gateway: 8 };
const MOST_KEPT = 1000;

/** Lets a few streams read at a time: all of them do when the change stream fails, or a gateway starts. */
export function createReads(): <T>(organisation: string, read: () => Promise<T>) => Promise<T> {
  const ofGateway = createGate(AT_ONCE.gateway);
  const ofOrganisations = new LRUCache<string, Gate>({
    max: MOST_KEPT,
    memoMethod: () => createGate(AT_ONCE.organisation),
  });
  return (organisation, read) => ofOrganisations.memo(organisation)(() => ofGateway(read));
}

const tooSlow = `The stream was ended because its events were not read: more than ${String(MOST_UNSENT / 1024)} KiB of them were waiting, and none was taken for ${String(MOST_IDLE / 1000)} seconds.`;
