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

/**
 * Inserts new rows and replaces others by id, in their order if `ordered`. Uses the driver, since Mongoose would cast the
 * validated rows again, which costs more than storing them.
 */
export async function writeRows<T extends { _id: string }>(
  model: Model<T>,
  rows: readonly { readonly row: T; readonly isNew: boolean }[],
  options: { readonly ordered: boolean; readonly session: ClientSession },
): Promise<void> {
  if (rows.length === 0) return;
  const writes = rows.map(({ row, isNew }) =>
    isNew ? { insertOne: { document: row } } : { replaceOne: { filter: { _id: row._id }, replacement: row } },
  );
  await nativeCollection(model).bulkWrite(writes as unknown as mongo.AnyBulkWriteOperation<T>[], options);
}
