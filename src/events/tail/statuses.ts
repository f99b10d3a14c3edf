import type { OrganisationData } from '../../tenant/organisationData';
import type { PublicCollection } from '../../schema/eventTypes';
import { published } from '../../schema/model';
import { idText } from '../../units';
import { type Change, changedMembers, collectionOf, type LoggedChange, toEvent } from './changes';
import { lastEvent } from './lastEvent';
import { type BatchMemory, createRowMemory, rowKey } from './rowMemory';

/*
 * The status of the object that a change is of, before it and after it, which decides the type of its event. The log has it only of rows that
 * are stored or get another; the rest is known from the changes before, from the object's row, or from its last event.
 */

type Statuses = BatchMemory<string>;

/** The context of a change whose object has no status and is no part. */
const WITHOUT_STATUS = { before: undefined, now: null };

/** Remembers the statuses of as many objects. */
export function createStatuses(remembered: number) {
  const memory = createRowMemory<string>(remembered);
  return {
    clear: (): void => {
      memory.clear();
    },
    /** Forgets the objects of a database. */
    forget: (database: string): void => {
      memory.forget(database);
    },
    /**
     * Reads what neither the changes nor what is remembered tell. Resolves with the function that makes the event of a change, which must be
     * called for each change in order, and the one that gives the id of the object to which the part of a change belongs.
     */
    async read(data: OrganisationData, changes: readonly LoggedChange[]) {
      const statuses = memory.batch();
      await readReplaced(data, changes, statuses);
      const lookedUp = await lookUp(data, changes, statuses);
      const ownerOf = (change: Change): unknown => lookedUp.get(change)?.owner;
      // an event of a part has its object's status after the transaction, whichever was written first
      const set = new Map(
        changes.flatMap(({ change, time }) =>
          typeof change.status === 'string' ? [[`${time} ${keyOf(change)}`, change.status] as const] : [],
        ),
      );
      function eventOf({ change, time }: LoggedChange): ReturnType<typeof toEvent> {
        const row = lookedUp.get(change);
        if (!row) return toEvent(change, WITHOUT_STATUS);
        const { key, now, owner } = row;
        const before = statuses.get(key);
        const isOfPart = key !== keyOf(change);
        const together = isOfPart ? set.get(`${time} ${key}`) : undefined;
        const status = together ?? (isOfPart ? (now ?? before) : (before ?? now));
        const event = toEvent(change, { before, now: status ?? null, owner });
        if (event?.type.endsWith('.deleted')) statuses.delete(key);
        else if (!isOfPart && typeof event?.status === 'string') statuses.set(key, event.status);
        return event;
      }
      return { ownerOf, eventOf };
    },
  };
}

const keyOf = (change: Change): string => rowKey(change.ns.db, change.ns.coll ?? '', change.documentKey?._id);
const keyIn = ({ ns }: Change, { of, id }: RowRef): string => rowKey(ns.db, of.collection, id);

/** A row by its collection and id. */
interface RowRef {
  readonly of: PublicCollection;
  readonly id: unknown;
}

/** Reads the statuses of objects before they were replaced, of which the log says nothing, from their last events. */
async function readReplaced(
  data: OrganisationData,
  changes: readonly LoggedChange[],
  statuses: Statuses,
): Promise<void> {
  const replaced = new Map<string, { readonly type: string; readonly id: string }>();
  for (const { change } of changes) {
    const of = collectionOf(change);
    const isUnknown = change.operationType === 'replace' && statuses.get(keyOf(change)) === undefined;
    if (isUnknown && of?.hasStatus)
      replaced.set(keyOf(change), { type: of.object, id: idText(change.documentKey?._id) });
  }
  await Promise.all(
    [...replaced].map(async ([key, object]) => {
      const last = await lastEvent(data, object, 'status');
      if (typeof last?.status === 'string') statuses.set(key, last.status);
    }),
  );
}

/** Reads what the log leaves out of changes: the owner of each part, and the statuses of objects that have one. */
async function lookUp(data: OrganisationData, logged: readonly LoggedChange[], statuses: Statuses) {
  const changes = logged.flatMap(({ change }) => {
    const of = collectionOf(change);
    return of && (of.hasStatus || of.part) ? [{ change, of, id: change.documentKey?._id }] : [];
  });
  const ownerIds = new Map<string, string>();
  for (const member of new Set(changes.flatMap(({ of }) => of.part?.member ?? []))) {
    const updated = changes.filter(
      ({ change, of }) =>
        of.part?.member === member && change.operationType === 'update' && changedMembers(change, of).length > 0,
    );
    for (const [key, owner] of await read(data, member, updated)) ownerIds.set(key, owner);
  }
  /** The row with the status: for a part, the row of the object that it belongs to. */
  const rowOf = ({ change, of, id }: (typeof changes)[number]): RowRef => {
    const whole =
      of.part && [...published.collections.values()].find(({ object, part }) => object === of.object && !part);
    if (!of.part || !whole) return { of, id };
    const owner =
      change.operationType === 'update' ? ownerIds.get(keyOf(change)) : change.fullDocument?.[of.part.member];
    return { of: whole, id: owner };
  };
  const located = changes.map((entry) => ({ ...entry, row: rowOf(entry) }));
  /** The rows whose status neither the changes nor what is remembered tell. */
  const unknownRows = located.flatMap(({ change, of, row }): RowRef[] => {
    if (!row.of.hasStatus || row.id === undefined) return [];
    // the remembered status may predate the transaction
    if (of.part) return [row];
    if (change.operationType !== 'update' || statuses.get(keyIn(change, row)) !== undefined) return [];
    const members = changedMembers(change, of);
    return members.length > 0 && !members.includes('status') ? [row] : [];
  });
  const statusByKey = await read(data, 'status', unknownRows);
  return new Map(
    located.map(({ change, of, row }) => {
      const key = keyIn(change, row);
      return [change, { key, now: statusByKey.get(key), owner: of.part ? row.id : undefined }] as const;
    }),
  );
}

/** Reads one member of rows, by {@link rowKey}; rows that no longer exist are left out. */
async function read(data: OrganisationData, member: string, wanted: readonly RowRef[]): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  for (const name of new Set(wanted.map(({ of }) => of.collection))) {
    const ids = new Set(wanted.filter(({ of }) => of.collection === name).map(({ id }) => id));
    const rows = data.database
      .collection(name)
      .find({ _id: { $in: [...ids] } } as object, { projection: { [member]: 1 } });
    for await (const { _id, [member]: value } of rows)
      if (typeof value === 'string') values.set(rowKey(data.database.databaseName, name, _id), value);
  }
  return values;
}
