import mongoose, { type mongo } from 'mongoose';
import { BSON, endOfKey, endOfValue, forEachObject, UnsupportedValue } from './bson';
import type { Projection } from './collection';
import { isWorthReadingAgain } from './faults';
import { atMost, READ_TIMEOUT } from './native';

const { Long } = mongoose.mongo;

/** Rows as the database sent them. */
export interface RawRows {
  readonly bytes: Buffer;
  /** The offsets in `bytes` of the start and the end of each row, in turn: twice as many as rows. */
  readonly places: readonly number[];
  /** Whether these are all that match, up to `most`: an answer of the database has at most 16 MiB, and at least one of the rows. */
  readonly isWhole: boolean;
}

export interface RawFind {
  readonly filter: object;
  readonly projection?: Projection | undefined;
  readonly sort?: Readonly<Record<string, 1 | -1>>;
  /** The most rows that it can find. */
  readonly most: number;
  /** In place of the collection's read concern. */
  readonly reading?: { readonly readConcern: { readonly level: string } } | undefined;
  /** The transaction to read in, whose read concern applies. */
  readonly session?: mongo.ClientSession | undefined;
}

/**
 * Finds rows without decoding them, in one command. The driver's cursor can do that as well, but first makes an array for each element
 * of each row, which takes longer than decoding.
 */
export async function findRaw<T extends { _id: string }>(
  collection: mongo.Collection<T>,
  find: RawFind,
): Promise<RawRows> {
  const { db: database } = collection;
  const { filter, projection, sort, most, reading, session } = find;
  const level = reading ? reading.readConcern : collection.readConcern;
  const command = {
    find: collection.collectionName,
    filter,
    ...(projection && { projection }),
    ...(sort && { sort }),
    ...atMost(most),
    maxTimeMS: READ_TIMEOUT,
    ...(!session && level?.level !== undefined && { readConcern: { level: level.level } }),
  };
  const options = { raw: true, ...(session && { session }) };
  const run = (): Promise<mongo.Document> => database.command(command, options);
  const { cursor } = await run().catch((error: unknown) => {
    // the driver retries the reads that it knows, but not plain commands
    if (session || !isWorthReadingAgain(error) || !database.client.options.retryReads) throw error;
    return run();
  });
  const { rest, ...rows } = rowsInReply(cursor as Buffer);
  if (!rest) return rows;
  // if it fails, the server times the cursor out
  const kill = { killCursors: collection.collectionName, cursors: [rest] };
  const killed = database.command(kill, options).catch(() => undefined);
  // a transaction runs one command at a time
  if (session) await killed;
  return rows;
}

/** The rows of a reply's cursor, `{firstBatch: [...], id: <64-bit>, ns}` with its members in any order; `rest` is its id if the server has more rows. */
function rowsInReply(bytes: Buffer): RawRows & { readonly rest: mongo.Long | undefined } {
  const places: number[] = [];
  let hasRows = false;
  let rest: mongo.Long | undefined;
  let at = 4;
  for (;;) {
    const type = bytes[at++] ?? 0;
    if (type === 0) break;
    const name = endOfKey(bytes, at, bytes.length);
    const value = name + 1;
    const key = bytes.toString('latin1', at, name);
    at = endOfValue(bytes, type, value, bytes.length);
    if (key === 'firstBatch' && type === BSON.array) {
      hasRows = true;
      forEachObject(bytes, value, at, (start, end) => places.push(start, end));
    } else if (key === 'id' && type === BSON.long && bytes.readBigInt64LE(value) !== 0n) {
      rest = Long.fromBigInt(bytes.readBigInt64LE(value));
    }
  }
  if (!hasRows) throw new UnsupportedValue('document');
  return { bytes, places, isWhole: rest === undefined, rest };
}

/** The rows, for who needs all at once. @throws UnsupportedValue if these are not all */
export function requireWhole(rows: RawRows): RawRows {
  if (!rows.isWhole) throw new UnsupportedValue('large');
  return rows;
}
