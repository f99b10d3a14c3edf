import type { mongo } from 'mongoose';
import type { Collection } from './collection';
import { isNoSuchCollection } from './faults';

/*
 * Makes collections with their indexes. Each collection and each index is a file of the database server, which may open a limited
 * number, so they are made when first needed (docs/decisions/files.md).
 */

/** An index as the server describes it. */
export type Description = mongo.IndexDescription & { readonly name: string };

/** Makes a collection that needs no other index; asking for this one, which every collection has, changes nothing else. */
const OF_ID: Description = { key: { _id: 1 }, name: '_id_' };

/** All indexes of a collection's definition, with the names that the server would give them. */
export function indexesOf({ indexes }: Pick<Collection, 'indexes'>): Description[] {
  return indexes.map(({ on, options }) => ({ name: Object.entries(on).flat().join('_'), ...options, key: { ...on } }));
}

/**
 * Rows below which a collection has only the indexes that enforce something: reading so few takes less than a millisecond, and each index is a
 * file.
 */
export const SMALL = 1000;

/** Whether an index does more than make reads fast: no two rows alike, or rows that expire. */
const holdsRule = ({ unique, expireAfterSeconds }: Description): boolean =>
  unique === true || expireAfterSeconds !== undefined;

/** How many files a database takes: its collections and indexes; one command. */
export async function filesOf(database: mongo.Db): Promise<number> {
  const { collections, indexes } = await database.command({ dbStats: 1 });
  return Number(collections) + Number(indexes);
}

/** What an index does, whatever its name. */
function meaningOf({ key, unique, expireAfterSeconds }: Omit<Description, 'name'>): string {
  return JSON.stringify([Object.entries(key), unique === true, expireAfterSeconds ?? null]);
}

export type Difference = Awaited<ReturnType<typeof differenceOf>>;

/** Compares a collection's indexes with its definition; one command, two for a small one. Unless it `grows` it has all from its first row on. */
export async function differenceOf(database: mongo.Db, definition: Collection, grows = true) {
  const found = await foundIndexes(database, definition.name);
  const names = new Set(found?.map(({ name }) => name));
  const meanings = new Set(found?.map(meaningOf));
  const wanted = indexesOf(definition);
  const lacking = wanted.filter((index) => !meanings.has(meaningOf(index)));
  const later = lacking.filter((index) => !holdsRule(index));
  // they are made together, so one that has some of them was large, or was made by an earlier version
  const hasNone = later.length > 0 && wanted.every((index) => holdsRule(index) || later.includes(index));
  const rows = grows && hasNone && found !== undefined ? await rowsOf(database, definition) : 0;
  const isSmall = grows && hasNone && rows < SMALL;
  return {
    exists: found !== undefined,
    /** Whether it has no index that only makes reads fast, so that those that it lacks may be made: it was small, or another program made it. */
    isPlain: names.size < 2 || hasNone,
    isSmall,
    /** About how many it has, if it is small. */
    rows,
    /** Whether it lacks only what it gets for having grown, when it is next used. */
    isGrown: grows && hasNone && !isSmall && later.length === lacking.length,
    /** Indexes that it lacks for the rows that it has. */
    missing: isSmall ? lacking.filter(holdsRule) : lacking,
    /** Names of retired indexes that it still has. */
    surplus: definition.retired.filter((name) => names.has(name)),
    /** Files that it takes: itself and its indexes. */
    files: found === undefined ? 0 : 1 + found.length,
  };
}

/** About how many rows a collection has; one command, which reads none of them. */
export function rowsOf(database: mongo.Db, { name }: Pick<Collection, 'name'>): Promise<number> {
  return database.collection(name).estimatedDocumentCount();
}

/** The names of the collections that exist; one command, which waits for no lock. */
export async function collectionNames(database: mongo.Db): Promise<Set<string>> {
  const found = await database.listCollections({}, { nameOnly: true }).toArray();
  return new Set(found.map(({ name }) => name));
}

/** A collection's indexes; undefined if it does not exist. */
export async function foundIndexes(database: mongo.Db, name: string): Promise<Description[] | undefined> {
  try {
    return (await database.collection(name).listIndexes().toArray()) as Description[];
  } catch (error) {
    if (isNoSuchCollection(error)) return undefined;
    throw error;
  }
}

/**
 * Makes indexes, and the collection if it does not exist; one command. Concurrent calls, of other gateways too, are safe: the
 * server makes each once. Never inside a transaction, in which MongoDB makes indexes only of new collections.
 */
export async function makeIndexes(
  database: mongo.Db,
  { name }: Collection,
  missing: readonly Description[],
): Promise<void> {
  const collection = database.collection(name);
  await collection.createIndexes(missing.length > 0 ? [...missing] : [OF_ID]);
}

/** Drops indexes that no query needs any more; one command for each, since SecantusDB's Python server takes no list. */
export async function dropIndexes(database: mongo.Db, { name }: Collection, surplus: readonly string[]): Promise<void> {
  for (const index of surplus) await database.collection(name).dropIndex(index);
}
