import type { OrganisationData } from '../../tenant/organisationData';
import type { PublicCollection } from '../../schema/eventTypes';
import { published } from '../../schema/model';
import { customerColumn } from '../../schema/restricted';
import type { EventRow } from '../collection';
import { type Change, collectionOf, isDrop, type LoggedChange } from './changes';
import { lastEvent } from './lastEvent';
import { type BatchMemory, createRowMemory, rowKey } from './rowMemory';

/*
 * Of which customer the object is that a change is of (docs/decisions/restricted-keys.md). The log says so only of rows that are stored or get
 * another customer; the rest is known from the changes before, from the object's last event, or from its row, which may have what a later change set.
 */

interface Owner {
  /** Null if the object is nobody's. */
  readonly customer: string | null;
  /** Whether its row said so, which may have been after a change that is not handled yet. */
  readonly isOfRow?: true;
}

/** A row whose customer a change does not say. */
interface Unknown {
  readonly key: string;
  readonly of: PublicCollection;
  readonly column: string;
  readonly id: string;
  /** Whether its own row no longer says whose it was. */
  readonly isPast: boolean;
  /** Whose its row said that it is before the change that made it so was handled; events that say just that do not count. */
  readonly early?: string | null;
}

/** The id of the object that a part belongs to, of a change of the part. */
type OwnerOf = (change: Change) => unknown;

/** Remembers the customers of as many objects. */
export function createOwners(remembered: number) {
  const memory = createRowMemory<Owner>(remembered);

  /** The row whose `column` has the customer: for a part, that of its object. Undefined if no row has. */
  function rowOf(change: Change, ownerOf: OwnerOf) {
    const collection = collectionOf(change);
    const { restriction } = collection ?? {};
    const owner = typeof restriction === 'object' && 'owner' in restriction ? restriction.owner : undefined;
    const of = owner === undefined ? collection : published.collections.get(owner);
    const column = of && customerColumn(of.restriction);
    const isPart = owner !== undefined;
    const id = isPart ? ownerOf(change) : change.documentKey?._id;
    if (!of || column === undefined || typeof id !== 'string') return undefined;
    return { of, column, id, isPart, key: rowKey(change.ns.db, of.collection, id) };
  }

  return {
    clear: (): void => {
      memory.clear();
    },
    /** Forgets the objects of a database. */
    forget: (database: string): void => {
      memory.forget(database);
    },
    /**
     * Reads the customers of objects that neither the changes nor what is remembered tell. Only the last change may be a drop.
     * Resolves with the function that gives the `customers` of a change's event, which must be called for each change in order.
     */
    async read(
      data: OrganisationData,
      changes: readonly LoggedChange[],
      ownerOf: OwnerOf,
    ): Promise<(change: Change) => Pick<EventRow, 'customers'>> {
      const known = memory.batch();
      const unknown = new Map<string, Unknown>();
      // after a drop, the rows are already those of the collection that replaces it
      const isReplaced = changes.some(({ change }) => isDrop(change));
      for (const { change } of changes) {
        const row = rowOf(change, ownerOf);
        if (!row || row.column === '_id') continue;
        const now = row.isPart ? undefined : newCustomer(change, row.column);
        const before = known.get(row.key);
        if (before) {
          // an update sets no value that was there before
          if (before.isOfRow && before.customer === now && change.operationType === 'update')
            unknown.set(row.key, { ...row, isPast: true, early: now });
          continue;
        }
        // before its insertion it was nobody's
        if (change.operationType === 'insert' && !row.isPart) continue;
        const isChanged = now !== undefined;
        const isPast = isReplaced || isChanged || (!row.isPart && change.operationType === 'delete');
        if (isPast || !unknown.has(row.key)) unknown.set(row.key, { ...row, isPast });
      }
      const rows = [...unknown.values()];
      const past = rows.filter(({ isPast }) => isPast);
      const present = rows.filter(({ isPast }) => !isPast);
      await readLast(data, past, known);
      await readRows(data, present, known);
      // gone by now
      await readLast(
        data,
        present.filter(({ key }) => !known.get(key)),
        known,
      );
      return (change) => {
        const row = rowOf(change, ownerOf);
        if (!row) return {};
        if (row.column === '_id') return { customers: [row.id] };
        const before = known.get(row.key)?.customer ?? null;
        const now = row.isPart ? undefined : newCustomer(change, row.column);
        if (now !== undefined) known.set(row.key, { customer: now });
        if (change.operationType === 'delete' && !row.isPart) known.delete(row.key);
        const after = now === undefined ? before : now;
        if (before === null) return after === null ? {} : { customers: [after] };
        // the last one is whose it is now, null included
        return { customers: before === after ? [before] : [before, after] };
      };
    },
  };
}

/** The customer that a change gives its row: null for none, undefined if it leaves it as it is. */
function newCustomer(
  { operationType, fullDocument, set, paths = [] }: Change,
  column: string,
): string | null | undefined {
  if (operationType === 'delete' || (operationType === 'update' && !paths.includes(column))) return undefined;
  const value = (operationType === 'update' ? set : fullDocument)?.[column];
  return typeof value === 'string' ? value : null;
}

type Known = BatchMemory<Owner>;

/** From the last events of objects, which are kept for 30 days; if a row spoke too early, from the last that says something else, or a gap since. */
async function readLast(data: OrganisationData, rows: readonly Unknown[], known: Known): Promise<void> {
  await Promise.all(
    rows.map(async ({ key, of, id, early }) => {
      const among =
        early === undefined ? {} : { $or: [{ customers: { $exists: true, $ne: [early] } }, { object: null }] };
      const customer = (await lastEvent(data, { type: of.object, id }, 'customers', among))?.customers?.at(-1);
      if (customer !== undefined) known.set(key, { customer });
    }),
  );
}

async function readRows(data: OrganisationData, rows: readonly Unknown[], known: Known): Promise<void> {
  for (const { of, column } of new Map(rows.map((row) => [row.of.collection, row])).values()) {
    // others may have the same ids
    const wanted = rows.filter((row) => row.of === of);
    const ids = wanted.map(({ id }) => id);
    const storedRows = data.database
      .collection<{ _id: string }>(of.collection)
      .find({ _id: { $in: ids } }, { projection: { [column]: 1 } });
    const customers = new Map<string, unknown>();
    for await (const row of storedRows) customers.set(row._id, (row as Readonly<Record<string, unknown>>)[column]);
    for (const { key, id } of wanted) {
      const customer = customers.get(id);
      if (customers.has(id))
        known.set(key, { customer: typeof customer === 'string' ? customer : null, isOfRow: true });
    }
  }
}
