import mongoose, { type Model, type mongo } from 'mongoose';
import { BSON, endOfKey, endOfValue, forEachObject, UnsupportedValue } from './bson';
import type { Projection } from './collection';
import { isWorthReadingAgain } from './faults';
import { nativeCollection, nativeDatabase, READ_WITHIN } from './native';

const { Long } = mongoose.mongo;

/** Rows as the database sent them. */
export interface RawRows {
  readonly bytes: Buffer;
  /** The start and the end of each row, in turn. */
  readonly places: readonly number[];
}

export interface RawFind {
  readonly filter: object;
  readonly projection?: Projection | undefined;
  readonly sort?: Readonly<Record<string, 1 | -1>>;
  /** How many rows it can find. */
  readonly most: number;
  /** How it is read if not as the connection says. */
  readonly reading?:
    { readonly readConcern: { readonly level: string }; readonly readPreference: 'primary' } | undefined;
}

/**
 * Finds rows without decoding them. The driver's cursor can do that as well, but makes an array of each element of each
 * row first, which takes longer than decoding.
 * @throws UnsupportedValue if not all rows fit into one answer (16 MiB)
 */
export async function findRaw<T extends { _id: string }>(model: Model<T>, find: RawFind): Promise<RawRows> {
  const collection = nativeCollection(model);
  const { filter, projection, sort, most, reading } = find;
  const db = nativeDatabase(model);
  const level = reading ? reading.readConcern : collection.readConcern;
  const command = {
    find: collection.collectionName,
    filter,
    ...(projection && { projection }),
    ...(sort && { sort }),
    limit: most,
    maxTimeMS: READ_WITHIN,
    // one more than it can be, or a server may not notice that it was all
    batchSize: most + 1,
    ...(level?.level !== undefined && { readConcern: { level: level.level } }),
  };
  const options = { raw: true, readPreference: reading?.readPreference ?? collection.readPreference };
  const run = (): Promise<mongo.Document> => db.command(command, options as mongo.RunCommandOptions);
  const { cursor } = await run().catch((error: unknown) => {
    // the driver sends no command again, as it does the reads that it knows
    if (!isWorthReadingAgain(error) || !model.db.getClient().options.retryReads) throw error;
    return run();
  });
  return rowsOf(cursor as Buffer, (id) => {
    // no need to wait for it: if it fails, the server ends the cursor itself
    db.command({ killCursors: collection.collectionName, cursors: [id] }, options as mongo.RunCommandOptions).catch(
      () => undefined,
    );
  });
}

/** The rows of a cursor document: `{firstBatch: [...], id: <64-bit>, ns}`, in any order. */
function rowsOf(bytes: Buffer, onRest: (id: mongo.Long) => void): RawRows {
  const places: number[] = [];
  let isThere = false;
  let at = 4;
  for (;;) {
    const type = bytes[at++] ?? 0;
    if (type === 0) break;
    const name = endOfKey(bytes, at, bytes.length);
    const value = name + 1;
    const key = bytes.toString('latin1', at, name);
    at = endOfValue(bytes, type, value, bytes.length);
    if (key === 'firstBatch' && type === BSON.array) {
      isThere = true;
      forEachObject(bytes, value, at, (start, end) => places.push(start, end));
    } else if (key === 'id' && type === BSON.long && bytes.readBigInt64LE(value) !== 0n) {
      onRest(Long.fromBigInt(bytes.readBigInt64LE(value)));
      throw new UnsupportedValue('large');
    }
  }
  if (!isThere) throw new UnsupportedValue('document');
  return { bytes, places };
}
