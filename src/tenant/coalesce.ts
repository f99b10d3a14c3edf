import DataLoader from 'dataloader';
import type { mongo } from 'mongoose';
import { BSON, endOfValue, UnsupportedValue } from '../mongo/bson';
import { findRaw, requireWhole } from '../mongo/rawRows';
import type { Projection } from '../mongo/collection';
import type { Semaphore } from '../async/semaphore';
import { atMost, READ_TIMEOUT } from '../mongo/native';
import { anyOf, readByKeys, type Reading } from '../mongo/readRows';

interface BatchOptions {
  /** The most keys of one command. */
  readonly maxBatchSize: number;
  /** Limits the batches that are read at once; by default nothing does. */
  readonly semaphore?: Semaphore;
}

interface LoaderOptions extends BatchOptions {
  readonly projection?: Projection | undefined;
}

/** Reads together what is asked for in one turn of the event loop; nothing is cached. `readAll` returns a value or an error for each key, in their order. */
export function createLoader<Key, Value>(
  readAll: (keys: readonly Key[]) => Promise<readonly (Value | Error)[]>,
  { maxBatchSize, semaphore = (work) => work() }: BatchOptions,
): DataLoader<Key, Value> {
  return new DataLoader<Key, Value>((keys) => semaphore(() => readAll(keys)), {
    cache: false,
    maxBatchSize,
    batchScheduleFn: (dispatch) => setImmediate(dispatch),
  });
}

/**
 * Batches reads by id in one turn of the event loop into one `$in`, since most of a point read is the driver's fixed cost
 * (docs/decisions/speed.md). Nothing is cached, and queries already sent are not shared, so callers see their own writes; those of
 * one turn get the same object for an id, which none may change.
 */
export function coalescedReads<T extends { _id: string }>(
  rows: mongo.Collection<T>,
  options: BatchOptions,
): DataLoader<string, T | null> {
  return loaderOf<T>(options, async (ids) => {
    const findOptions = { ...atMost(ids.length), maxTimeMS: READ_TIMEOUT };
    const storedRows = await rows.find<T>({ _id: anyOf(ids) } as object, findOptions).toArray();
    return storedRows.map((row) => [row._id, row]);
  });
}

/** A row that a request waits for. */
export interface WantedRow {
  readonly id: string;
  /**
   * Counts a row's bytes for the request, estimated as the average of the rows that were read with it. A request passes the same function for all
   * of its rows: once it has thrown, none of them is kept or read. @throws AppError if they are too many
   */
  readonly hold: Reading['hold'];
}

/** The same as {@link coalescedReads}, but for rows that may be large: reads them in pieces, each of which is counted before the next. */
export function coalescedRows<T extends { _id: string }>(
  collection: mongo.Collection<T>,
  { projection, reading, ...options }: LoaderOptions & { readonly reading: Omit<Reading, 'hold'> },
): DataLoader<WantedRow, T | null> {
  async function readAll(wanted: readonly WantedRow[]): Promise<(T | null | Error)[]> {
    const refusals = new Map<Reading['hold'], Error>();
    // by id, the indexes in `wanted`: several requests may want one row
    const waiting = new Map<string, number[]>();
    for (const [at, { id }] of wanted.entries()) {
      const others = waiting.get(id);
      if (others) others.push(at);
      else waiting.set(id, [at]);
    }
    const results: (T | null | Error)[] = wanted.map(() => null);
    const isWanted = (id: string): boolean => waiting.get(id)?.some((at) => !refusals.has(wanted[at]?.hold)) ?? false;
    const find = { member: '_id', keys: [...waiting.keys()], projection, isWanted };
    for await (const { rows, held: bytes } of readByKeys<T>(collection, find, reading)) {
      for (const row of rows) {
        for (const at of waiting.get(row._id) ?? []) results[at] = keep(row, bytes / rows.length, wanted[at]?.hold);
      }
    }
    return wanted.map(({ hold }, at) => refusals.get(hold) ?? results[at] ?? null);

    function keep(row: T, bytes: number, hold: Reading['hold']): T | Error {
      try {
        if (!refusals.has(hold)) hold?.(bytes);
        return refusals.get(hold) ?? row;
      } catch (error) {
        const refusal = error as Error;
        refusals.set(hold, refusal);
        return refusal;
      }
    }
  }

  return createLoader(readAll, options);
}

/**
 * The same as {@link coalescedReads}, but for rows as the database sent them.
 * @throws UnsupportedValue if they do not fit into one answer, or if a row does not begin with an id that is a string
 */
export function coalescedRawReads<T extends { _id: string }>(
  collection: mongo.Collection<T>,
  options: LoaderOptions,
): DataLoader<string, Buffer | null> {
  const { projection } = options;
  return loaderOf<Buffer>(options, async (ids) => {
    const find = { filter: { _id: anyOf(ids) }, projection, most: ids.length };
    // places: where each row begins and where it ends, in turn
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
  options: BatchOptions,
  find: (ids: readonly string[]) => Promise<(readonly [string, T])[]>,
): DataLoader<string, T | null> {
  async function readAll(ids: readonly string[]): Promise<(T | null)[]> {
    const byId = new Map(await find([...new Set(ids)]));
    return ids.map((id) => byId.get(id) ?? null);
  }

  return createLoader(readAll, options);
}

/** The id of a row: a text, whose length (4 bytes) comes before it and a zero after it. Servers send the id as the first member. */
function idOf(row: Buffer): string {
  const value = 4 + FIRST.length;
  if (row.compare(FIRST, 0, FIRST.length, 4, value) !== 0) throw new UnsupportedValue('type');
  return row.toString('utf8', value + 4, endOfValue(row, BSON.text, value, row.length) - 1);
}

/** How a row begins whose id is a string, after the 4 bytes of its length: the type and the name of the id. */
const FIRST = Buffer.from([BSON.text, ...Buffer.from('_id\0')]);
