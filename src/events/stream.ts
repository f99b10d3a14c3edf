import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import { createSemaphore, type Semaphore } from '../async/semaphore';
import { AppError } from '../errors';
import { STREAM_READS } from '../limits';
import type { EventRow } from './collection';
import type { EventPage } from './page';

/*
 * One stream of events: pages of the feed until it has caught up, then rows as it is notified of them. Rows are inserted in order, so
 * notifications continue where the pages end (docs/decisions/subscription.md).
 */

/** Bytes of events that are kept for a caller who does not read them. */
export const MAX_UNSENT = 256 * 1024;
/** How long a caller with unread events may read none of them, in milliseconds: a burst alone does not end its stream. */
export const MAX_IDLE = 5000;

/** Reads stored events after a position, once all up to a time of the database can be read. */
export type ReadEvents = (after: string, since: mongo.Timestamp | undefined) => Promise<EventPage>;

/** Events as they are stored. Throws the reason if the stream ends before the caller disconnects. */
export interface EventStream extends AsyncIterable<EventRow> {
  /** Aborts when the stream ends, even while an event is being sent. */
  readonly ended: AbortSignal;
}

interface StreamOptions {
  readonly after: string;
  readonly read: ReadEvents;
  /** Resolves with the time after which the stream is notified of every event. */
  readonly listen: () => Promise<mongo.Timestamp | undefined>;
  /** Takes a point of the rate limit for each page after the first when the stream reads several in a row. @throws AppError rate_limited */
  readonly pay: () => Promise<void>;
}

export function createStream({ after, read, listen, pay }: StreamOptions) {
  const ended = new AbortController();
  let unsent: { readonly row: EventRow; readonly bytes: number }[] = [];
  let bytesUnsent = 0;
  /** Whether the stream has to read pages, since it has not begun, or missed rows. */
  let isBehind = true;
  let isReading = false;
  let failure: { readonly reason: unknown } | undefined;
  /** Rows after which the caller has asked for another, and whether there is one for which it has not. */
  let takenRows = 0;
  let isOffered = false;
  let idleTimer: NodeJS.Timeout | undefined;
  let wake = (): void => undefined;
  // a function, since TypeScript assumes that a variable does not change during an await
  const isEnded = (): boolean => ended.signal.aborted;

  function end(reason?: unknown): void {
    if (isEnded()) return;
    if (reason !== undefined) failure = { reason };
    unsent = [];
    clearTimeout(idleTimer);
    ended.abort();
    wake();
  }

  /** Drops what is unsent: the pages that are read next have it. */
  function forget(): void {
    unsent = [];
    bytesUnsent = 0;
  }

  /** Yields a row. Until the caller asks for the next one, it is the caller who is waited for, and not the database. */
  function* offer(row: EventRow): Generator<EventRow> {
    isOffered = true;
    yield row;
    isOffered = false;
    takenRows += 1;
  }

  /** Ends the stream if its caller reads nothing for a while. Stops watching once the caller has read all pages. */
  function expectReading(): void {
    const before = takenRows;
    clearTimeout(idleTimer);
    idleTimer = setTimeout(() => {
      if (isOffered && takenRows === before) end(new AppError('unavailable', UNREAD, { reason: 'unread' }));
      else expectReading();
    }, MAX_IDLE);
  }

  /** Reads pages until there are no more. Returns the position up to which everything was read. */
  async function* readPages(from: string): AsyncGenerator<EventRow, string> {
    let position = from;
    const since = await listen();
    for (let pages = 0, hasMore = true; hasMore && !isEnded(); pages += 1) {
      if (pages > 0) await pay();
      const page = await read(position, since);
      for (const row of page.rows) {
        if (isEnded()) break;
        yield* offer(row);
      }
      ({ hasMore, next: position } = page);
    }
    return position;
  }

  async function* rows(): AsyncGenerator<EventRow> {
    let position = after;
    let readUpTo = after;
    try {
      while (!isEnded()) {
        if (isBehind) {
          isBehind = false;
          isReading = true;
          position = yield* readPages(position);
          readUpTo = position;
          isReading = false;
          clearTimeout(idleTimer);
          continue;
        }
        const next = unsent.shift();
        if (!next) {
          await new Promise<void>((resolve) => (wake = resolve));
          continue;
        }
        bytesUnsent -= next.bytes;
        // a page had it
        if (next.row._id <= readUpTo) continue;
        position = next.row._id;
        yield* offer(next.row);
      }
    } finally {
      end();
    }
    if (failure) throw failure.reason;
  }

  return {
    stream: { ended: ended.signal, [Symbol.asyncIterator]: rows } satisfies EventStream,
    /** Notifies the stream of a row, with the row's size in bytes. */
    notify: (row: EventRow, bytes: number): void => {
      // the stream will read the row in a page
      if (isEnded() || isBehind) return;
      if (bytesUnsent + bytes > MAX_UNSENT) {
        // from now on its caller gets pages, at its own pace
        forget();
        isBehind = true;
        if (!isReading) expectReading();
        return;
      }
      unsent.push({ row, bytes });
      bytesUnsent += bytes;
      wake();
    },
    /** Makes the stream read pages again, in case it missed a row. */
    catchUp: (): void => {
      forget();
      isBehind = true;
      wake();
    },
    /** Ends the stream; with a reason, unless the caller has disconnected. */
    end,
  };
}

/** Organisations whose reads are limited together; one beyond them begins anew, below the limit of the gateway. */
const MAX_CACHED = 1000;

/** Lets a few streams read at a time: when the change stream fails or a gateway starts, all of them want to. */
export function createReadLimit(): <T>(organisation: string, read: () => Promise<T>) => Promise<T> {
  const ofGateway = createSemaphore(STREAM_READS.all);
  const ofOrganisations = new LRUCache<string, Semaphore>({
    max: MAX_CACHED,
    memoMethod: () => createSemaphore(STREAM_READS.organisation),
  });
  return (organisation, read) => ofOrganisations.memo(organisation)(() => ofGateway(read));
}

const UNREAD = `The stream was ended because its events were not read: more than ${String(MAX_UNSENT / 1024)} KiB of them were waiting, and none was taken for ${String(MAX_IDLE / 1000)} seconds.`;
