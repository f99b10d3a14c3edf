import { isDeepStrictEqual } from 'node:util';
import type { ClientSession, Model, mongo } from 'mongoose';
import { nativeCollection } from '../../database/native';

/** Whether two rows are equal, ignoring the order of their search words. Bulk calls compare each row, so nothing is copied. */
export function isSameRow(one: object, other: object): boolean {
  const [mine, others] = [one as Record<string, unknown>, other as Record<string, unknown>];
  const names = Object.keys(mine);
  return (
    names.length === Object.keys(others).length &&
    names.every((name) => name in others && isSameMember(name, mine[name], others[name]))
  );
}

function isSameMember(name: string, one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object') return Object.is(one, other);
  const areWords = name === 'search' && Array.isArray(one) && Array.isArray(other);
  return areWords ? isDeepStrictEqual(one.toSorted(), other.toSorted()) : isDeepStrictEqual(one, other);
}

/** The updated_at of a row that is changed now: it must not go back if the clock was set back. */
export function changedAt(last: Date, now: Date): Date {
  return new Date(Math.max(now.getTime(), last.getTime()));
}

/** A row to store: a new one, or what an existing one becomes. */
export interface RowChange<T> {
  readonly row: T;
  /** The row as it is stored; undefined if it is new. */
  readonly before: T | undefined;
}

/**
 * Inserts new rows and changes others by id, in their order if `ordered`. Only members that differ are sent, since the database's log
 * then names what changed (docs/decisions/events.md). Uses the driver, since Mongoose would cast the validated rows again, which
 * costs more than storing them.
 */
export async function writeRows<T extends { _id: string }>(
  model: Model<T>,
  rows: readonly RowChange<T>[],
  options: { readonly ordered: boolean; readonly session: ClientSession },
): Promise<void> {
  if (rows.length === 0) return;
  const writes = rows.map(({ row, before }) =>
    before
      ? { updateOne: { filter: { _id: row._id }, update: differenceOf(before, row) } }
      : { insertOne: { document: row } },
  );
  await nativeCollection(model).bulkWrite(writes as unknown as mongo.AnyBulkWriteOperation<T>[], options);
}

/** The update that makes one row the other. @throws Error if they are the same, which callers have found out */
function differenceOf(before: object, row: object): object {
  const [old, made] = [before as Record<string, unknown>, row as Record<string, unknown>];
  const isKept = (name: string): boolean => name in old && isSameMember(name, old[name], made[name]);
  const set = Object.entries(made).filter(([name]) => !isKept(name));
  const unset = Object.keys(old).filter((name) => !(name in made));
  if (set.length + unset.length === 0) throw new Error('a row that does not change is not written');
  return {
    ...(set.length > 0 && { $set: Object.fromEntries(set) }),
    ...(unset.length > 0 && { $unset: Object.fromEntries(unset.map((name) => [name, ''])) }),
  };
}
