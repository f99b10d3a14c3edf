import { isDeepStrictEqual } from 'node:util';
import type { ClientSession, mongo } from 'mongoose';
import type { Pace } from '../async/yield';
import type { Fault } from '../errors';
import { ERASED_AT } from '../schema/personal';

/**
 * Whether two rows are equal. A missing member counts as null, but not inside of objects; search words may be in any order. Copies nothing, since
 * bulk calls compare every row.
 */
export function isSameRow(left: object, right: object): boolean {
  const mine = left as Record<string, unknown>;
  const others = right as Record<string, unknown>;
  for (const name in mine) if (!isSameMember(name, mine[name] ?? null, others[name] ?? null)) return false;
  for (const name in others) if (!(name in mine) && (others[name] ?? null) !== null) return false;
  return true;
}

export function isSameMember(name: string, left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object') return false;
  const areLists = Array.isArray(left) && Array.isArray(right) && left.length === right.length;
  // search words usually have the same order, and comparing objects of any kind takes ten times as long
  if (areLists && left.every((value, at) => value === right[at])) return true;
  if (isDeepStrictEqual(left, right)) return true;
  return name === 'search' && areLists && isDeepStrictEqual(left.toSorted(), right.toSorted());
}

/** The updated_at of a row changed now, which never goes back, even if the clock does. `last` is what the row has, maybe of another program. */
export function changedAt(last: unknown, now: Date): Date {
  const time = last instanceof Date ? last.getTime() : NaN;
  return time > now.getTime() ? new Date(time) : now;
}

/** A changed row with its time of change; as it is if `before` has none, as in types without `updated_at`. */
export function stampedRow<T extends object>(row: T, before: object, now: Date): T {
  const { updated_at: last } = before as { readonly updated_at?: unknown };
  return last ? { ...row, updated_at: changedAt(last, now) } : row;
}

/** The fault of a write to an erased row; undefined for any other row. */
export function erasedFault(row: object | null | undefined, pointer: string): Fault | undefined {
  if (!row || !(ERASED_AT in row) || row[ERASED_AT] === null) return undefined;
  return { pointer, code: 'erased', detail: 'was erased; only the operator can readmit it' };
}

/** A row to store: a new one, or what an existing one becomes. */
export interface RowChange<T> {
  /** Undefined if it is deleted. */
  readonly row: T | undefined;
  /** The row as read in the transaction of the write, which a change meanwhile makes conflict; undefined if it is new. */
  readonly before: T | undefined;
}

/** Search words per command, which the driver serializes in one go. 1,000 rows have some 20,000 to 50,000. */
const WORDS_AT_ONCE = 50_000;

/**
 * Inserts new rows, and changes and deletes others by id, in their order if `ordered`. Only members that differ are sent, so that the database's
 * log names what changed (docs/decisions/events.md).
 */
export async function writeRows<T extends { _id: string }>(
  collection: mongo.Collection<T>,
  rows: readonly RowChange<T>[],
  { pace, ...options }: { readonly ordered: boolean; readonly session: ClientSession; readonly pace?: Pace },
): Promise<void> {
  let writes: object[] = [];
  let words = 0;
  const send = async (): Promise<void> => {
    if (writes.length === 0) return;
    const command = writes as unknown as mongo.AnyBulkWriteOperation<T>[];
    writes = [];
    words = 0;
    await collection.bulkWrite(command, options);
  };
  for (const { row, before } of rows) {
    const pause = pace?.();
    if (pause) await pause;
    writes.push(writeOf(before, row));
    const { search } = (row ?? {}) as { search?: readonly string[] };
    words += search?.length ?? 0;
    if (words > WORDS_AT_ONCE) await send();
  }
  await send();
}

function writeOf<T extends { _id: string }>(before: T | undefined, row: T | undefined): object {
  if (!before) return { insertOne: { document: row } };
  const filter = { _id: before._id };
  return row ? { updateOne: { filter, update: differenceOf(before, row) } } : { deleteOne: { filter } };
}

/** The update that turns one row into the other. @throws Error if they are equal: callers check that first */
function differenceOf(before: object, row: object): object {
  const old = before as Record<string, unknown>;
  const newRow = row as Record<string, unknown>;
  const set: Record<string, unknown> = {};
  const unset: Record<string, ''> = {};
  for (const name in newRow) if (!isSameMember(name, old[name] ?? null, newRow[name] ?? null)) set[name] = newRow[name];
  for (const name in old) if (!(name in newRow) && old[name] !== null) unset[name] = '';
  const has = (members: object): boolean => Object.keys(members).length > 0;
  if (!has(set) && !has(unset)) throw new Error('a row that does not change is not written');
  return { ...(has(set) && { $set: set }), ...(has(unset) && { $unset: unset }) };
}
