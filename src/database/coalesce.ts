import DataLoader from 'dataloader';
import type { mongo } from 'mongoose';
import { BSON, endOfValue, findRaw, requireWhole, UnsupportedValue } from './rawRows';
import type { Projection } from './collection';
import type { Gate } from './gate';
import { READ_TIMEOUT } from './native';
import { anyOf, readByKeys, type Reading } from './readRows';

interface LoaderOptions {
  readonly projection?: Projection | undefined;
  readonly maxBatchSize: number;
  readonly gate?: Gate;
}

/**
 * Batches reads by id in one turn of the event loop into one `$in`, since most of a point read is the driver's fixed cost
 * (docs/decisions/speed.md). Nothing is cached, and queries already sent are not shared, so callers see their own writes.
 */
export function coalescedReads<T extends { _id: string }>(
  rows: mongo.Collection<T>,
  options: LoaderOptions,
): DataLoader<string, T | null> {
  const { projection } = options;
  return loaderOf<T>(options, async (ids) => {
    // everything in the first batch, which has 101 rows by default
    const { length: limit } = ids;
    const how = { limit, batchSize: limit + 1, maxTimeMS: READ_TIMEOUT, ...(projection && { projection }) };
    const found = await rows.find<T>({ _id: anyOf(ids) } as object, how).toArray();
    return found.map((row) => [row._id, row]);
  });
}

/** The same as {@link coalescedReads}, but for rows that may be large: reads them in pieces. */
export function coalescedRows<T extends { _id: string }>(
  rows: mongo.Collection<T>,
  options: LoaderOptions & { readonly reading: Reading },
): DataLoader<string, T | null> {
  const { projection, reading } = options;
  return loaderOf<T>(options, async (keys) => {
    const found: [string, T][] = [];
    for await (const piece of readByKeys<T>(rows, { member: '_id', keys, projection }, reading))
      found.push(...piece.rows.map((row): [string, T] => [row._id, row]));
    return found;
  });
}

/**
 * The same as {@link coalescedReads}, but for rows as the database sent them.
 * @throws UnsupportedValue if they do not fit into one answer, or if an id is not a string
 */
export function coalescedRawReads<T extends { _id: string }>(
  collection: mongo.Collection<T>,
  options: LoaderOptions,
): DataLoader<string, Buffer | null> {
  const { projection } = options;
  return loaderOf<Buffer>(options, async (ids) => {
    const find = { filter: { _id: anyOf(ids) }, projection, most: ids.length };
    const { bytes, places } = requireWhole(await findRaw(collection, find));
    const rows: [string, Buffer][] = [];
    for (let at = 0; at < places.length; at += 2) {
      const row = bytes.subarray(places[at], places[at + 1]);
      rows.push([idOf(row), row]);
    }
    return rows;
  });
}

function loaderOf<T>(
  { gate = (work) => work(), maxBatchSize }: LoaderOptions,
  find: (ids: readonly string[]) => Promise<(readonly [string, T])[]>,
): DataLoader<string, T | null> {
  async function readAll(ids: readonly string[]): Promise<(T | null)[]> {
    if (!ids.every((id) => typeof id === 'string')) throw new TypeError('an id must be a string');
    const byId = new Map(await find([...new Set(ids)]));
    return ids.map((id) => byId.get(id) ?? null);
  }

  return new DataLoader<string, T | null>((ids) => gate(() => readAll(ids)), {
    cache: false,
    maxBatchSize,
    batchScheduleFn: (dispatch) => setImmediate(dispatch),
  });
}

/** The id of a row, which servers send as the first member. */
function idOf(row: Buffer): string {
  const value = 4 + FIRST.length;
  if (row.compare(FIRST, 0, FIRST.length, 4, value) !== 0) throw new UnsupportedValue('type');
  return row.toString('utf8', value + 4, endOfValue(row, BSON.text, value, row.length) - 1);
}

/** The type and name of an id that is a string. */
const FIRST = Buffer.from([BSON.text, ...Buffer.from('_id\0')]);
