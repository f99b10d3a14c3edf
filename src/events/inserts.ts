import type { mongo } from 'mongoose';
import { type ChangeCursor, openChanges } from '../mongo/changeCursor';
import { type EventRow, events } from './collection';
import { OF_ORGANISATION } from './tail/changes';

/** How long the change stream stays open while nobody waits, in milliseconds: callers usually return at once. */
const LINGER = 5000;
/** Pause before a change stream that could not be opened or read is opened again, in milliseconds. */
const RETRY_AFTER = 2000;

// by the global setTimeout, which tests can fake
export const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, RETRY_AFTER).unref());

type Timestamp = mongo.Timestamp;

/** An event that was stored, and the database that has it. */
export interface EventInsert {
  readonly ns: { readonly db: string };
  readonly fullDocument: EventRow;
}

interface InsertsOptions {
  /** The client for change streams. @throws if the database does not respond */
  readonly streams: () => Promise<mongo.MongoClient>;
  /** Whether anybody waits for events. */
  readonly isAwaited: () => boolean;
  readonly onInsert: (insert: EventInsert) => void;
  /** Called when the change stream has ended; whoever is still waiting may have missed an event. */
  readonly onEnd: () => void;
  readonly onError: (error: unknown) => void;
}

/** One change stream of the events that are stored for all organisations, open while somebody waits for them. */
export function createInserts({ streams, isAwaited, onInsert, onEnd, onError }: InsertsOptions) {
  /** The change stream's time of opening, while it is open or being opened. */
  let opened: Promise<Timestamp | undefined> | undefined;
  let isStopped = false;

  async function open(): Promise<Timestamp | undefined> {
    const cursor = await openChanges<EventInsert>(await streams(), [
      { $match: { 'ns.db': OF_ORGANISATION, 'ns.coll': events.name, operationType: 'insert' } },
      { $project: { ns: 1, fullDocument: 1 } },
    ]);
    void relay(cursor);
    return cursor.openedAt;
  }

  /** Passes on what the change stream has, until it fails or is unused for a while. Never rejects. */
  async function relay(cursor: ChangeCursor<EventInsert>): Promise<void> {
    let usedAt = performance.now();
    let wasRead = false;
    try {
      while (!isStopped && performance.now() - usedAt < LINGER) {
        const inserts = await cursor.next();
        wasRead = true;
        if (isAwaited()) usedAt = performance.now();
        for (const insert of inserts) onInsert(insert);
      }
    } catch (error) {
      onError(error);
      // the next one may fail as soon
      if (!wasRead) await pause();
    } finally {
      opened = undefined;
      onEnd();
      await cursor.close();
    }
  }

  return {
    /** Opens the change stream unless it is open. Resolves with the time after which no event is missed. */
    listen: (): Promise<Timestamp | undefined> => {
      if (opened) return opened;
      const opening = open();
      opened = opening;
      opening.catch(() => (opened = undefined));
      return opening;
    },
    stop: (): void => {
      isStopped = true;
    },
  };
}
