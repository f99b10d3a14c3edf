import type { mongo } from 'mongoose';
import type { Logger } from 'pino';
import type { Databases } from '../../tenant/databases';
import { isDropPending, isDuplicateKey, isUnavailable } from '../../mongo/faults';
import { createSemaphore } from '../../async/semaphore';
import { collectionNames } from '../../mongo/indexes';
import type { OrganisationData } from '../../tenant/organisationData';
import { organisationOf } from '../../mongo/databaseNames';
import type { Writer } from '../../tenant/slots';
import { AppError } from '../../errors';
import { describeError } from '../../log';
import type { Feed, Feeds } from '../../organisations/feeds';
import { GAP } from '../../schema/eventTypes';
import { published } from '../../schema/model';
import { type EventRow, events } from '../collection';
import { positionOf, timeDigits } from '../position';
import { type Change, gapEvent, isDrop, isEver, type LoggedChange, upToDrops } from './changes';
import { changedSince } from './gaps';
import { withoutMoved } from './moved';
import { createOwners } from './customers';
import { createStatuses } from './statuses';

/* Turns changes into events, and stores them with their organisations. */

export interface RecorderOptions {
  readonly databases: Pick<Databases, 'organisationData' | 'organisationsWithData'>;
  readonly feeds: Feeds;
  readonly onWritten: (events: number) => void;
  /** Called with the organisations whose events were stored; the tail waits for it. */
  readonly onStored: (organisations: readonly string[]) => Promise<void>;
  /** Called with changes whose events are stored. */
  readonly onRecorded: (organisation: string, changes: readonly LoggedChange[]) => void;
  readonly logger: Logger;
  /** Objects whose status and customer are remembered; an override for tests. */
  readonly remembered?: number;
}

/** Organisations whose events are stored concurrently. */
const AT_ONCE = 4;
/** Objects whose status and customer are remembered. */
const REMEMBERED = 20_000;
/** Rows in one insert, and organisations that get a gap event in one go. */
const BATCH = 500;

export function createRecorder(options: RecorderOptions) {
  const { databases, feeds, onWritten, onStored, onRecorded, logger, remembered = REMEMBERED } = options;
  const statuses = createStatuses(remembered);
  const owners = createOwners(remembered);
  const semaphore = createSemaphore(AT_ONCE);

  /**
   * Notes, after an error, that an organisation gets a gap event with its next change, since the events from a time on could not be stored.
   * @throws the error if the database does not respond: then the changes are read again
   */
  async function oweGap(id: string, from: Date, error: unknown): Promise<void> {
    // its erasure drops its database: nobody can read its events
    if (isDropPending(error)) return;
    if (isUnavailable(error) && !(error instanceof AppError)) throw error;
    // its database refuses events, for example during a move: other organisations must not wait
    const failure = { organisation_id: id, error: describeError(error) };
    logger.warn(failure, 'events of an organisation could not be stored; it gets a gap event');
    await feeds.oweGap(id, from);
  }

  /** The events of an organisation's changes, as rows to store. */
  async function toRows(
    data: OrganisationData,
    { epoch }: Feed,
    changes: readonly LoggedChange[],
  ): Promise<EventRow[]> {
    const { ownerOf, eventOf } = await statuses.read(data, changes);
    const customersOf = await owners.read(data, changes, ownerOf);
    return changes.flatMap((logged) => {
      const event = eventOf(logged);
      const whose = customersOf(logged.change);
      if (!event) return [];
      const origin: Writer = logged.by ?? 'other';
      const who = event.type === GAP ? {} : { origin };
      return [{ _id: positionOf(epoch, logged.time, logged.ordinal), ...event, ...who, ...whose }];
    });
  }

  /** Stores rows in order; rows that exist are left as they are. */
  async function store(data: OrganisationData, rows: readonly EventRow[]): Promise<void> {
    if (rows.length === 0) return;
    await data.prepare([events]);
    const collection = data.collection(events);
    for (let at = 0; at < rows.length; at += BATCH) await insert(collection, rows.slice(at, at + BATCH));
    data.wrote([events], rows.length);
    onWritten(rows.length);
  }

  /** Stores the events of an organisation's changes. Resolves with whether any may have been stored: not every change has one. */
  async function recordChanges(id: string, feed: Feed, all: readonly LoggedChange[]): Promise<boolean> {
    const data = databases.organisationData({ id });
    const changes = await withoutMoved(data, feed, all);
    const [first] = changes;
    if (!first) return false;
    // not in the middle of a transaction, where readers may already be past the position of the gap event
    const owed = feed.writeState === 'open' && first.ordinal === 1 ? feed.owed : undefined;
    const gap = owed && {
      _id: positionOf(feed.epoch, first.time, 0),
      ...gapEvent(owed, first.change.wallTime),
    };
    let isStored = gap !== undefined;
    try {
      if (gap) await store(data, [gap]);
      for (const part of upToDrops(changes)) {
        const rows = await toRows(data, feed, part);
        await store(data, rows);
        isStored ||= rows.length > 0;
        if (part.some(({ change }) => isDrop(change))) forget(data.database.databaseName);
      }
    } catch (error) {
      forget(data.database.databaseName);
      await oweGap(id, first.change.wallTime, error);
      return true;
    }
    if (owed) await feeds.settleGap(id, owed);
    onRecorded(id, changes);
    return isStored;
  }

  /** Forgets the objects of a database after a drop, when others may have their ids, and after changes that are not recorded. */
  function forget(database: string): void {
    statuses.forget(database);
    owners.forget(database);
  }

  /**
   * Runs `work`, which resolves with whether it may have stored events, for each of these organisations, unless it is being erased. Storing
   * recreates the database of one that was erased meanwhile, so that is dropped.
   */
  async function forEach(ids: readonly string[], work: (id: string, feed: Feed) => Promise<boolean>): Promise<void> {
    const feedById = await feeds.of(ids);
    const here = ids.flatMap((id) => {
      const feed = feedById.get(id);
      return feed && feed.writeState !== 'closed' ? [{ id, feed }] : [];
    });
    const stored: string[] = [];
    await Promise.all(
      here.map(({ id, feed }) =>
        semaphore(async () => {
          if (await work(id, feed)) stored.push(id);
        }),
      ),
    );
    if (here.length === 0) return;
    if (stored.length > 0) await onStored(stored);
    const after = await feeds.of(here.map(({ id }) => id));
    for (const { id } of here) if (!after.has(id)) await databases.organisationData({ id }).drop();
  }

  return {
    /** Forgets what it knows of objects, since another gateway may have recorded changes in between. */
    begin(): void {
      statuses.clear();
      owners.clear();
    },
    /** Stores the events of a batch. @throws if the database does not respond */
    async write(batch: readonly LoggedChange[]): Promise<void> {
      const byDatabase = new Map<string, LoggedChange[]>();
      for (const logged of batch) {
        const before = byDatabase.get(logged.change.ns.db);
        if (before) before.push(logged);
        else byDatabase.set(logged.change.ns.db, [logged]);
      }
      if (byDatabase.size === 0) return;
      const byOrganisation = new Map([...byDatabase].map(([name, changes]) => [organisationOf(name) ?? '', changes]));
      await forEach([...byOrganisation.keys()], (id, feed) => recordChanges(id, feed, byOrganisation.get(id) ?? []));
    },
    /**
     * Stores a gap event for every organisation that has data, since the history between `from` and `mark` was lost, and an `.updated` event
     * for objects changed since `from`. For some there is none, which the gap event covers: beyond the first of each type (gaps.ts), and if
     * this is repeated after an error and objects have changed since, whose events get positions that others have. For {@link EVER} there is
     * only the gap, and organisations without data get it before their next event.
     */
    async recordGap(from: Date, mark: Pick<Change, 'clusterTime' | 'wallTime'>): Promise<void> {
      if (isEver(from)) await feeds.oweGapToAll(from);
      const all = await databases.organisationsWithData();
      for (let at = 0; at < all.length; at += BATCH) {
        await forEach(all.slice(at, at + BATCH), async (id, feed) => {
          const data = databases.organisationData({ id });
          const names = await collectionNames(data.database);
          const collections = [...published.collections.values()].filter(({ collection }) => names.has(collection));
          if (collections.length === 0) return false;
          const time = timeDigits(mark.clusterTime);
          const to = mark.wallTime;
          let ordinal = 0;
          const next = (): string => positionOf(feed.epoch, time, ordinal++);
          try {
            await store(data, [{ _id: next(), ...gapEvent(from, to) }]);
            if (isEver(from)) {
              await feeds.settleGap(id, from);
              return true;
            }
            for (const of of collections) {
              const changed = await changedSince(data, of, from);
              await store(
                data,
                changed.map((event) => ({ _id: next(), ...event, at: to })),
              );
            }
            return true;
          } catch (error) {
            await oweGap(id, from, error);
            return true;
          }
        });
      }
    },
  };
}

export type Recorder = ReturnType<typeof createRecorder>;

async function insert(collection: mongo.Collection<EventRow>, rows: readonly EventRow[]): Promise<void> {
  for (let rest = rows; rest.length > 0;) {
    try {
      await collection.insertMany([...rest], { ordered: true });
      return;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    // another tail has stored some of them: those are left as they are
    const ids = { _id: { $in: rest.map(({ _id }) => _id) } };
    const options = { projection: { _id: 1 } } as const;
    const there = new Set((await collection.find(ids, options).toArray()).map(({ _id }) => _id));
    rest = rest.filter(({ _id }) => !there.has(_id));
  }
}
