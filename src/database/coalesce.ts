import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';
import mongoose, { type Model } from 'mongoose';
import { BSON, endOfKey, endOfValue, Unforeseen } from './bson';
import type { Projection } from './collection';
import type { Gate } from './gate';
import { nativeCollection } from './native';
import { findRaw } from './rawRows';

/**
 * Batches reads by id in one turn of the event loop into one `$in`, since most of a point read is the driver's fixed cost
 * (docs/decisions/speed.md). Nothing is cached, and queries already sent are not shared, so callers see their own writes.
 * Uses the driver directly, since ids are always strings and mongoose has nothing to cast.
 */
export function coalescedReads<T extends { _id: string }>(
  model: Model<T>,
  options: LoaderOptions,
): DataLoader<string, T | null> {
  return loaderOf(rowsOf(model, options), options);
}

type ReadAll<T> = (ids: readonly string[]) => Promise<(T | null)[]>;

function rowsOf<T extends { _id: string }>(model: Model<T>, { projection }: LoaderOptions): ReadAll<T> {
  const rows = nativeCollection<{ _id: string }>(model as unknown as Model<{ _id: string }>);

  async function readAlone(id: string): Promise<T | null> {
    return rows.findOne<T>({ _id: id }, projection && { projection });
  }

  async function readAll(ids: readonly string[]): Promise<(T | null)[]> {
    const [first] = ids;
    if (!ids.every((id) => typeof id === 'string')) throw new TypeError('an id is a text');
    if (ids.length === 1 && first !== undefined) return [await readAlone(first)];
    // everything in the first batch, which has 101 rows by default
    const found = rows.find(
      { _id: { $in: [...new Set(ids)] } },
      { batchSize: ids.length + 1, ...(projection && { projection }) },
    );
    const byId = new Map((await found.toArray()).map((row) => [row._id, row as T]));
    return ids.map((id) => byId.get(id) ?? null);
  }

  return readAll;
}

/**
 * The same, for rows that are read again and again and seldom change: each is read every time, but only decoded if its bytes are others than
 * those of the last time. Callers share the decoded rows, so they must not change them. At most `kept` are remembered.
 */
export function rememberedReads<T extends { _id: string }>(
  model: Model<T>,
  { kept, ...options }: LoaderOptions & { readonly kept: number },
): DataLoader<string, T | null> {
  const remembered = new LRUCache<string, { readonly bytes: Buffer; readonly row: T }>({ max: kept });
  const readRaw = rawRowsOf(model as unknown as Model<{ _id: string }>, options);
  const readAll = rowsOf(model, options);

  function decode(id: string, bytes: Buffer | null): T | null {
    if (bytes === null) return null;
    const known = remembered.get(id);
    if (known?.bytes.equals(bytes)) return known.row;
    const row = mongoose.mongo.BSON.deserialize(bytes) as T;
    // a copy, since these are part of a whole answer
    remembered.set(id, { bytes: Buffer.from(bytes), row });
    return row;
  }

  async function readDecoded(ids: readonly string[]): Promise<(T | null)[]> {
    try {
      const found = await readRaw(ids);
      return ids.map((id, at) => decode(id, found[at] ?? null));
    } catch (error) {
      if (error instanceof Unforeseen) return readAll(ids);
      throw error;
    }
  }

  return loaderOf(readDecoded, options);
}

/**
 * The same, of rows as the database sent them.
 * @throws Unforeseen if they do not fit into one answer, or one has an id that is not text
 */
export function coalescedRawReads(
  model: Model<{ _id: string }>,
  options: LoaderOptions,
): DataLoader<string, Buffer | null> {
  return loaderOf(rawRowsOf(model, options), options);
}

function rawRowsOf(model: Model<{ _id: string }>, { projection }: LoaderOptions): ReadAll<Buffer> {
  return async function readAll(ids: readonly string[]): Promise<(Buffer | null)[]> {
    const [first] = ids;
    if (!ids.every((id) => typeof id === 'string')) throw new TypeError('an id is a text');
    const filter = { _id: ids.length === 1 ? first : { $in: [...new Set(ids)] } };
    const { bytes, places } = await findRaw(model, { filter, projection, most: ids.length });
    const byId = new Map<string, Buffer>();
    for (let at = 0; at < places.length; at += 2) {
      const row = bytes.subarray(places[at], places[at + 1]);
      byId.set(idOf(row), row);
    }
    return ids.map((id) => byId.get(id) ?? null);
  };
}

interface LoaderOptions {
  readonly projection?: Projection | undefined;
  readonly maxBatchSize: number;
  readonly gate?: Gate;
}

function loaderOf<T>(readAll: ReadAll<T>, { gate, maxBatchSize }: LoaderOptions): DataLoader<string, T | null> {
  return new DataLoader<string, T | null>(gate ? (ids) => gate(() => readAll(ids)) : readAll, {
    cache: false,
    maxBatchSize,
    batchScheduleFn: (dispatch) => setImmediate(dispatch),
  });
}

/** The id of a row, which servers send first. */
function idOf(row: Buffer): string {
  let at = 4;
  for (;;) {
    const type = row[at++] ?? 0;
    if (type === 0) throw new Unforeseen('missing');
    const name = endOfKey(row, at, row.length);
    const value = name + 1;
    const end = endOfValue(row, type, value, row.length);
    if (row.toString('latin1', at, name) !== '_id') at = end;
    else if (type === BSON.text) return row.toString('utf8', value + 4, end - 1);
    else throw new Unforeseen('type');
  }
}
