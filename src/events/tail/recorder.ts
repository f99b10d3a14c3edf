import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import type { Logger } from 'pino';
import type { Databases } from '../../database/connect';
import { isDuplicateKey, isUnavailable } from '../../database/faults';
import { createGate } from '../../database/gate';
import { collectionNames } from '../../database/indexes';
import { type OrganisationData, organisationOf } from '../../database/organisationData';
import { AppError } from '../../errors';
import { describeError } from '../../log';
import { MINUTE } from '../../units';
import type { Feed, Feeds } from '../../organisations/feeds';
import type { PublicCollection } from '../../schema/eventTypes';
import { published } from '../../schema/model';
import { type EventRow, events } from '../collection';
import { positionOf, timeDigits } from '../position';
import { type Change, changedMembers, collectionOf, gapEvent, momentOf, toEvent } from './changes';

/* Turns the changes of a cluster into events, and stores them with their organisations. */

/** A change with its place in the log. */
export interface Found {
  readonly change: Change;
  /** Its cluster time as {@link timeDigits}. */
  readonly time: string;
  /** Its ordinal at that time, from 1; 0 is for a gap before it. */
  readonly ordinal: number;
}

export interface RecorderOptions {
  readonly cluster: string;
  readonly databases: Pick<Databases, 'organisationData' | 'organisationsOn'>;
  readonly feeds: Feeds;
  readonly onWritten: (cluster: string, events: number) => void;
  /** Called with the organisations whose events were stored; the tail waits for it. */
  readonly onStored: (organisations: readonly string[]) => Promise<void>;
  readonly logger: Logger;
}

const WITHOUT_STATUS = { before: undefined, now: null };
/** Organisations whose events are stored concurrently. */
const AT_ONCE = 4;
/** Objects whose status is remembered, so that most updates need no query. */
const STATUSES = 20_000;
const BATCH = 500;
/** Maximum objects of a type that get an event after a gap; more may have changed, as the gap event says. */
const MAX_AFTER_GAP = 10_000;
/** How long before its commit a write may be dated, in milliseconds. */
const DATED_BEFORE = 2 * MINUTE;

export function recorderOf({ cluster, databases, feeds, onWritten, onStored, logger }: RecorderOptions) {
  const statuses = new LRUCache<string, string>({ max: STATUSES });
  const gate = createGate(AT_ONCE);

  const keyOfRow = (database: string, collection: string, id: unknown): string =>
    `${database} ${collection} ${String(id)}`;
  const keyOf = (change: Change): string => keyOfRow(change.ns.db, change.ns.coll ?? '', change.documentKey?._id);
  const keyIn = ({ ns }: Change, { of, id }: Row): string => keyOfRow(ns.db, of.collection, id);

  /** Notes that an organisation gets a gap event, because its events could not be stored. @throws the error if its cluster does not respond */
  async function oweGap(id: string, from: Date, error: unknown): Promise<void> {
    if (isUnavailable(error) && !(error instanceof AppError)) throw error;
    // its database refuses events, for example during a move: other organisations must not wait
    const failure = { cluster, organisation_id: id, error: describeError(error) };
    logger.warn(failure, 'events of an organisation could not be stored; it gets a gap event');
    await feeds.oweGap(id, from);
  }

  /** Reads one member of rows, by their keys; rows that no longer exist are left out. */
  async function read(data: OrganisationData, member: string, wanted: readonly Row[]): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (const name of new Set(wanted.map(({ of }) => of.collection))) {
      const ids = new Set(wanted.filter(({ of }) => of.collection === name).map(({ id }) => id));
      const rows = data.database
        .collection(name)
        .find({ _id: { $in: [...ids] } } as object, { projection: { [member]: 1 } });
      for await (const { _id, [member]: value } of rows)
        if (typeof value === 'string') found.set(keyOfRow(data.database.databaseName, name, _id), value);
    }
    return found;
  }

  /** Reads what the log leaves out of changes: the owner of each part, and the statuses of objects that have one. */
  async function lookUp(data: OrganisationData, found: readonly Found[]) {
    const changes = found.flatMap(({ change }) => {
      const of = collectionOf(change);
      return of && (of.hasStatus || of.part) ? [{ change, of, id: change.documentKey?._id }] : [];
    });
    const owners = new Map<string, string>();
    for (const member of new Set(changes.flatMap(({ of }) => of.part?.member ?? []))) {
      const updated = changes.filter(
        ({ change, of }) =>
          of.part?.member === member && change.operationType === 'update' && changedMembers(change, of).length > 0,
      );
      for (const [key, owner] of await read(data, member, updated)) owners.set(key, owner);
    }
    /** The row with the status: for a part, the row of the object that it belongs to. */
    const rowOf = ({ change, of, id }: (typeof changes)[number]): Row => {
      const whole =
        of.part && [...published.collections.values()].find(({ object, part }) => object === of.object && !part);
      if (!of.part || !whole) return { of, id };
      const owner =
        change.operationType === 'update' ? owners.get(keyOf(change)) : change.fullDocument?.[of.part.member];
      return { of: whole, id: owner };
    };
    const wanted = changes.flatMap((one): Row[] => {
      const row = rowOf(one);
      if (!row.of.hasStatus || row.id === undefined) return [];
      // the remembered status may predate the transaction
      if (one.of.part) return [row];
      if (one.change.operationType !== 'update' || statuses.has(keyIn(one.change, row))) return [];
      const members = changedMembers(one.change, one.of);
      return members.length > 0 && !members.includes('status') ? [row] : [];
    });
    const known = await read(data, 'status', wanted);
    return new Map(
      changes.map((one) => {
        const row = rowOf(one);
        const key = keyIn(one.change, row);
        return [one.change, { key, now: known.get(key), owner: one.of.part ? row.id : undefined }] as const;
      }),
    );
  }

  /** The events of an organisation's changes, as rows to store. */
  async function toRows(data: OrganisationData, { epoch }: Feed, found: readonly Found[]): Promise<EventRow[]> {
    const lookedUp = await lookUp(data, found);
    // an event of a part has its object's status after the transaction, whichever was written first
    const set = new Map(
      found.flatMap(({ change, time }) =>
        typeof change.status === 'string' ? [[`${time} ${keyOf(change)}`, change.status] as const] : [],
      ),
    );
    function eventOf({ change, time }: Found): ReturnType<typeof toEvent> {
      const row = lookedUp.get(change);
      if (!row) return toEvent(change, WITHOUT_STATUS);
      const { key, now, owner } = row;
      const before = statuses.get(key);
      const isOfPart = key !== keyOf(change);
      const together = isOfPart ? set.get(`${time} ${key}`) : undefined;
      const known = together ?? (isOfPart ? (now ?? before) : (before ?? now));
      const event = toEvent(change, { before, now: known ?? null, owner });
      if (event?.type.endsWith('.deleted')) statuses.delete(key);
      else if (!isOfPart && typeof event?.status === 'string') statuses.set(key, event.status);
      return event;
    }
    return found.flatMap((one) => {
      const event = eventOf(one);
      return event ? [{ _id: positionOf(epoch, one.time, one.ordinal), ...event }] : [];
    });
  }

  /** Stores rows in order; rows that exist are left as they are. */
  async function store(data: OrganisationData, rows: readonly EventRow[]): Promise<void> {
    if (rows.length === 0) return;
    await data.prepare([events]);
    const collection = data.collection(events);
    for (let at = 0; at < rows.length; at += BATCH) await insert(collection, rows.slice(at, at + BATCH));
    data.wrote([events], rows.length);
    onWritten(cluster, rows.length);
  }

  async function record(id: string, feed: Feed, found: readonly Found[]): Promise<void> {
    const data = databases.organisationData({ id, cluster });
    const kept = found.filter(({ time }) => time > feed.since);
    const [first] = kept;
    if (!first) return;
    // not in the middle of a transaction, where readers may already be past the position of the gap event
    const owed = feed.standing === 'open' && first.ordinal === 1 ? feed.owed : undefined;
    const gap = owed && {
      _id: positionOf(feed.epoch, first.time, 0),
      ...gapEvent(owed, momentOf(first.change)),
    };
    try {
      const rows = await toRows(data, feed, kept);
      await store(data, gap ? [gap, ...rows] : rows);
    } catch (error) {
      await oweGap(id, momentOf(first.change), error);
      return;
    }
    if (owed) await feeds.settleGap(id, owed);
  }

  const isHere = (feed: Feed | undefined): feed is Feed => feed?.cluster === cluster && feed.standing !== 'closed';

  /** Runs `work` for each of these organisations, and drops databases that it recreated for erased ones. */
  async function forEach(ids: readonly string[], work: (id: string, feed: Feed) => Promise<void>): Promise<void> {
    const known = await feeds.of(ids);
    const here = ids.flatMap((id) => {
      const feed = known.get(id);
      return isHere(feed) ? [{ id, feed }] : [];
    });
    await Promise.all(here.map(({ id, feed }) => gate(() => work(id, feed))));
    if (here.length === 0) return;
    await onStored(here.map(({ id }) => id));
    const after = await feeds.of(here.map(({ id }) => id));
    for (const { id } of here) if (!after.has(id)) await databases.organisationData({ id, cluster }).drop();
  }

  return {
    /** Forgets statuses, since another gateway may have recorded changes in between. */
    begin(): void {
      statuses.clear();
    },
    /** Stores the events of a batch. @throws if the cluster does not respond */
    async write(batch: readonly Found[]): Promise<void> {
      const byDatabase = new Map<string, Found[]>();
      for (const found of batch) {
        const before = byDatabase.get(found.change.ns.db);
        if (before) before.push(found);
        else byDatabase.set(found.change.ns.db, [found]);
      }
      if (byDatabase.size === 0) return;
      const byOrganisation = new Map([...byDatabase].map(([name, found]) => [organisationOf(name) ?? '', found]));
      await forEach([...byOrganisation.keys()], (id, feed) => record(id, feed, byOrganisation.get(id) ?? []));
    },
    /**
     * Stores a gap event for every organisation on the cluster that has data, since the history between `from` and `mark` was lost, and an
     * `.updated` event for each object changed since `from`.
     */
    async recordGap(from: Date, mark: Pick<Change, 'clusterTime' | 'wallTime'>): Promise<void> {
      const all = await databases.organisationsOn(cluster);
      for (let at = 0; at < all.length; at += BATCH) {
        await forEach(all.slice(at, at + BATCH), async (id, feed) => {
          const data = databases.organisationData({ id, cluster });
          const names = await collectionNames(data.database);
          const found = [...published.collections.values()].filter(({ collection }) => names.has(collection));
          if (found.length === 0) return;
          const [time, to] = [timeDigits(mark.clusterTime), momentOf(mark)];
          let ordinal = 0;
          const next = (): string => positionOf(feed.epoch, time, ordinal++);
          try {
            await store(data, [{ _id: next(), ...gapEvent(from, to) }]);
            for (const of of found) {
              const changed = await changedSince(data, of, from);
              await store(
                data,
                changed.map((event) => ({ _id: next(), ...event, at: to })),
              );
            }
          } catch (error) {
            await oweGap(id, from, error);
          }
        });
      }
    },
  };
}

export type Recorder = ReturnType<typeof recorderOf>;

interface Row {
  readonly of: PublicCollection;
  readonly id: unknown;
}

/** An `.updated` event for each object of a collection changed since a time. */
async function changedSince(
  data: OrganisationData,
  { collection, object: type, members, hasStatus }: PublicCollection,
  from: Date,
): Promise<Omit<EventRow, '_id' | 'at'>[]> {
  if (!members.has('updated_at')) return [];
  const since = { updated_at: { $gte: new Date(from.getTime() - DATED_BEFORE) } };
  const options = { projection: { status: 1 }, sort: { updated_at: 1, _id: 1 }, limit: MAX_AFTER_GAP } as const;
  const rows = data.database.collection(collection).find(since, options);
  return rows
    .map(({ _id, status }) => {
      const known = hasStatus && typeof status === 'string' ? status : null;
      return { type: `${type}.updated`, object: { type, id: String(_id) }, changes: [], status: known };
    })
    .toArray();
}

async function insert(collection: mongo.Collection<EventRow>, rows: readonly EventRow[]): Promise<void> {
  for (let left = rows; left.length > 0;) {
    try {
      await collection.insertMany([...left], { ordered: true });
      return;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    // another tail has stored some of them: those are left as they are
    const ids = { _id: { $in: left.map(({ _id }) => _id) } };
    const options = { projection: { _id: 1 }, readPreference: 'primary' } as const;
    const there = new Set((await collection.find(ids, options).toArray()).map(({ _id }) => _id));
    left = left.filter(({ _id }) => !there.has(_id));
  }
}
