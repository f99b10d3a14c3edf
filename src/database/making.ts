import mongoose, { type Connection, type mongo } from 'mongoose';
import type { Collection, Index } from './collection';
import { isTypeMismatch } from './faults';

/*
 * Makes collections with their indexes. Each of both is a file of the database's server, which may open a limited number,
 * so they are made when they are first needed (docs/decisions/files.md).
 */

type AnyCollection = Collection<{ readonly _id: string }>;

/** An index as the server describes it. */
export type Description = mongo.IndexDescription & { readonly name: string };

/** What a collection lacks and has too much. */
export interface Difference {
  /** Whether it exists. */
  readonly exists: boolean;
  /** Whether it has no index but that of `_id`: something else than {@link makeIndexes} made it. */
  readonly isBare: boolean;
  /** Indexes that it lacks, all of them if it does not exist. */
  readonly missing: readonly Description[];
  /** Names of retired indexes that it still has. */
  readonly surplus: readonly string[];
  /** Files that it takes: itself and its indexes. */
  readonly files: number;
}

const NO_SUCH_COLLECTION = 26;
/** Makes a collection that needs no other index; asking for this one, which every collection has, changes nothing else. */
const OF_ID: Description = { key: { _id: 1 }, name: '_id_' };

/** A name as the server would give it. */
function nameOf({ on, options }: Index): string {
  return options?.name ?? Object.entries(on).flat().join('_');
}

function describe(index: Index): Description {
  return { ...index.options, key: { ...index.on }, name: nameOf(index) };
}

/** All indexes of a collection's definition. */
export function indexesOf({ indexes }: Pick<AnyCollection, 'indexes'>): Description[] {
  return indexes.map(describe);
}

/** Files of a collection that has every index: itself, that of `_id`, and the others. */
export function filesOf({ indexes }: AnyCollection): number {
  return 2 + indexes.length;
}

function native({ db }: Connection): mongo.Db {
  if (!db) throw new Error('the database is not connected');
  return db;
}

/** What an index does, whatever its name. */
function meaningOf({ key, unique, expireAfterSeconds }: Omit<Description, 'name'>): string {
  return JSON.stringify([Object.entries(key), unique === true, expireAfterSeconds ?? null]);
}

/** Compares a collection's indexes with its definition; one command. */
export async function differenceOf(connection: Connection, definition: AnyCollection): Promise<Difference> {
  const found = await foundIndexes(native(connection).collection(definition.name));
  const names = new Set(found?.map(({ name }) => name));
  const meanings = new Set(found?.map(meaningOf));
  return {
    exists: found !== undefined,
    isBare: names.size < 2,
    missing: indexesOf(definition).filter((index) => !meanings.has(meaningOf(index))),
    surplus: definition.retired.filter((name) => names.has(name)),
    files: found === undefined ? 0 : 1 + found.length,
  };
}

/** The names of the collections that exist; one command, which waits for no lock. */
export async function collectionNames(connection: Connection): Promise<Set<string>> {
  const found = await native(connection).listCollections({}, { nameOnly: true }).toArray();
  return new Set(found.map(({ name }) => name));
}

/** The indexes of a collection; undefined if it does not exist. */
async function foundIndexes(collection: mongo.Collection): Promise<Description[] | undefined> {
  try {
    return (await collection.listIndexes().toArray()) as Description[];
  } catch (error) {
    if (error instanceof mongoose.mongo.MongoServerError && error.code === NO_SUCH_COLLECTION) return undefined;
    throw error;
  }
}

/**
 * Makes indexes, and the collection if it does not exist; one command. Concurrent calls, of other gateways too, are safe: the
 * server makes each once. Never inside a transaction, in which MongoDB makes indexes only of new collections.
 */
export async function makeIndexes(
  connection: Connection,
  { name }: AnyCollection,
  missing: readonly Description[],
): Promise<void> {
  await native(connection)
    .collection(name)
    .createIndexes(missing.length > 0 ? [...missing] : [OF_ID]);
}

/** Drops indexes that no query needs any more; one command, or one for each on SecantusDB's Python server, which takes no list. */
export async function dropIndexes(
  connection: Connection,
  { name }: AnyCollection,
  surplus: readonly string[],
): Promise<void> {
  const drop = (index: string | readonly string[]) =>
    native(connection).command({ dropIndexes: name, index, writeConcern: { w: 'majority', j: true } });
  try {
    await drop(surplus);
  } catch (error) {
    if (!isTypeMismatch(error)) throw error;
    for (const index of surplus) await drop(index);
  }
}
