import type { mongo } from 'mongoose';
import type { Collection } from './collection';
import { isNoSuchCollection, isNoSuchIndex, isUnavailable } from './faults';
import type { PATIENT } from './native';

/*
 * Compares and creates collections and their indexes. Each is a file on the database server, which can open a limited number, so they
 * are created when first needed (docs/decisions/files.md); tenant/indexMaintenance.ts and `doctor` decide when that is.
 */

/** An index as the server describes it. */
export type Description = mongo.IndexDescription & { readonly name: string };

/** Every collection has this index, so creating it creates the collection and nothing else. */
const ID_INDEX: Description = { key: { _id: 1 }, name: '_id_' };

/** All indexes of a collection's definition, with the names that the server would give them. */
export function indexesOf({ indexes }: Pick<Collection, 'indexes'>): Description[] {
  return indexes.map(({ on, options }) => ({ name: Object.entries(on).flat().join('_'), ...options, key: { ...on } }));
}

/** With fewer rows than this a collection has only the indexes that enforce a rule: reads take under a millisecond, and each index is a file. */
export const SMALL = 1000;

/** Whether an index enforces a rule (unique values or expiry) instead of only speeding up reads. */
const enforcesRule = ({ unique, expireAfterSeconds }: Description): boolean =>
  unique === true || expireAfterSeconds !== undefined;

/**
 * Options on which neither an index's rows nor its rules depend: its name, and versions that each server chooses itself. `hidden` is among them,
 * since the server creates no second index beside a hidden one.
 */
const INCIDENTAL = ['name', 'hidden', 'v', 'ns', 'background', 'textIndexVersion', '2dsphereIndexVersion'];

/** What an index does, with all its options, whatever its name. An option that is false does what a missing one does. */
export function meaningOf({ key, ...options }: Omit<Description, 'name'>): string {
  const chosen = Object.entries(options).filter(([name, value]) => value !== false && !INCIDENTAL.includes(name));
  return JSON.stringify([Object.entries(key), Object.fromEntries(chosen.sort())]);
}

export type Difference = Awaited<ReturnType<typeof differenceOf>>;

/** Compares a collection's indexes with its definition; one command, two if it is small. Without `grows` it needs all indexes, however small it is. */
export async function differenceOf(database: mongo.Db, definition: Collection, grows = true) {
  const storedIndexes = await existingIndexes(database, definition.name);
  const names = new Set(storedIndexes?.map(({ name }) => name));
  const meanings = new Set(storedIndexes?.map(meaningOf));
  const definedIndexes = indexesOf(definition);
  // an index is given the collation of its collection, which that of _id shows, unless it has its own
  const collation = storedIndexes?.find(({ name }) => name === ID_INDEX.name)?.collation;
  const lacking = definedIndexes
    .filter((index) => !meanings.has(meaningOf({ ...index, ...(collation && { collation }) })))
    // an index of another program may have the name, and the same members with other options
    .map((index) => (names.has(index.name) ? { ...index, name: `${index.name}_scopegate` } : index));
  const lackingReadIndexes = lacking.filter((index) => !enforcesRule(index));
  // indexes for reads are created together, so a collection with some of them was large or is from an earlier version
  const lacksAllReadIndexes =
    lackingReadIndexes.length > 0 &&
    lackingReadIndexes.length === definedIndexes.filter((index) => !enforcesRule(index)).length;
  const rows = grows && lacksAllReadIndexes && storedIndexes !== undefined ? await rowsOf(database, definition) : 0;
  const isSmall = grows && lacksAllReadIndexes && rows < SMALL;
  return {
    exists: storedIndexes !== undefined,
    /**
     * Whether a gateway may add what is missing: it has no index but that of _id, or none that only speed up reads, so it was small or created by
     * another program. Any other may be large, so what a later version of its definition adds is left to doctor.
     */
    isPlain: names.size < 2 || lacksAllReadIndexes,
    isSmall,
    /** Its approximate number of rows, if it had to be counted; otherwise 0. */
    rows,
    /** Whether it lacks only the indexes of a grown collection, which it gets when it is next used. */
    isGrown: grows && lacksAllReadIndexes && !isSmall && lackingReadIndexes.length === lacking.length,
    /** Indexes that it should have at its size, and lacks. */
    missing: isSmall ? lacking.filter(enforcesRule) : lacking,
    /** Names of its retired indexes. */
    surplus: definition.retired.filter((name) => names.has(name)),
    /** How many indexes it has. */
    indexes: storedIndexes?.length ?? 0,
  };
}

/** The approximate number of rows, from metadata; one command. */
export function rowsOf(database: mongo.Db, { name }: Pick<Collection, 'name'>): Promise<number> {
  return database.collection(name).estimatedDocumentCount();
}

/** The names of the collections that exist; one command, which waits for no lock. */
export async function collectionNames(database: mongo.Db): Promise<Set<string>> {
  const collections = await database.listCollections({}, { nameOnly: true }).toArray();
  return new Set(collections.map(({ name }) => name));
}

/** A collection's indexes; undefined if it does not exist. */
export async function existingIndexes(database: mongo.Db, name: string): Promise<Description[] | undefined> {
  try {
    return (await database.collection(name).listIndexes().toArray()) as Description[];
  } catch (error) {
    if (isNoSuchCollection(error)) return undefined;
    throw error;
  }
}

/**
 * Creates indexes, and the collection if missing, by one command. If that is refused, by one for the indexes that enforce a rule and one for the
 * others, so that a rule that stored rows break does not keep those for reads from being created; then throws all the same. Concurrent calls are
 * safe, from other gateways too: the server creates each once. Never in a transaction, where MongoDB creates indexes of new collections only.
 * Gateways wait for as long as for any command; give `PATIENT` (native.ts) to wait until the indexes of a large collection are built.
 */
export async function createIndexes(
  database: mongo.Db,
  { name }: Collection,
  missing: readonly Description[],
  options: mongo.CreateIndexesOptions & Partial<typeof PATIENT> = {},
): Promise<void> {
  const collection = database.collection(name);
  const create = async (indexes: readonly Description[]): Promise<void> => {
    await collection.createIndexes(indexes.length > 0 ? [...indexes] : [ID_INDEX], options);
  };
  const rules = missing.filter(enforcesRule);
  const others = missing.filter((index) => !enforcesRule(index));
  if (rules.length === 0 || others.length === 0) return create(missing);
  await create(missing).catch(async (error: unknown) => {
    // the build may go on after the connection's timeout, and a second command would only wait for it once more
    if (isUnavailable(error)) throw error;
    const results = await Promise.allSettled([create(rules), create(others)]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  });
}

/** Drops indexes by name, one command each. Another process may be doing the same. */
export async function dropIndexes(database: mongo.Db, { name }: Collection, surplus: readonly string[]): Promise<void> {
  for (const index of surplus) {
    await database
      .collection(name)
      .dropIndex(index)
      .catch((error: unknown) => {
        if (!isNoSuchIndex(error)) throw error;
      });
  }
}
