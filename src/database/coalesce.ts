import DataLoader from 'dataloader';
import type { mongo } from 'mongoose';
import { BSON, endOfValue, findRaw, requireWhole, UnsupportedValue } from './rawRows';
import type { Projection } from './collection';
import type { Gate } from './gate';
import { READ_TIMEOUT } from './native';

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
  return loaderOf<T>(options, async (filter, most) => {
    // everything in the first batch, which has 101 rows by default
    const options = { limit: most, batchSize: most + 1, maxTimeMS: READ_TIMEOUT, ...(projection && { projection }) };
    const found = await rows.find<T>(filter as object, options).toArray();
    return found.map((row) => [row._id, row]);
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
  return loaderOf<Buffer>(options, async (filter, most) => {
    const { bytes, places } = requireWhole(await findRaw(collection, { filter, projection, most }));
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
  find: (filter: { readonly _id: string | { $in: string[] } }, most: number) => Promise<(readonly [string, T])[]>,
): DataLoader<string, T | null> {
  async function readAll(ids: readonly string[]): Promise<(T | null)[]> {
    const [first, ...others] = new Set(ids);
    if (first === undefined || !ids.every((id) => typeof id === 'string'))
      throw new TypeError('an id must be a string');
    const filter = { _id: others.length === 0 ? first : { $in: [first, ...others] } };
    const byId = new Map(await find(filter, others.length + 1));
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
