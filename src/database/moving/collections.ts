import { isDeepStrictEqual } from 'node:util';
import mongoose, { type mongo } from 'mongoose';
import { isUnauthorised } from '../faults';
import { type Description, existingIndexes } from '../indexes';
import { openWrites } from '../slots';

/* The collections of an organisation's database as a move sees them (docs/decisions/organisation-move.md). */

interface Options {
  readonly validator?: Readonly<Record<string, unknown>>;
  readonly validationLevel?: string;
  readonly validationAction?: string;
}

/** A collection with the options that it was created with. */
export interface Found {
  readonly name: string;
  readonly options: Options;
}

/** Matches no document. */
const NOTHING = { $expr: false };
const EXISTS = 48;
const DURABLE = { w: 'majority', j: true } as const;

/** All collections except `open_writes`, by name. @throws Error if one is of a kind that cannot be copied */
export async function collectionsOf(database: mongo.Db): Promise<Found[]> {
  const found = (await database.listCollections().toArray()) as (Found & { readonly type?: string })[];
  const own = found.filter(({ name }) => name !== openWrites.name && !name.startsWith('system.'));
  const other = own.find(({ type = 'collection' }) => type !== 'collection');
  if (other)
    throw new Error(
      `${database.databaseName} has a ${other.type ?? ''}, ${other.name}, which cannot be moved: drop it`,
    );
  return own.sort(byName);
}

/** Creates a collection with the options of another one, without its indexes; an existing collection stays as it is. */
export async function createLike(target: mongo.Db, { name, options }: Found): Promise<void> {
  const { validator, validationLevel, validationAction, ...others } = options;
  const own = ownValidator(validator);
  const validation = own && { validator: own, validationLevel, validationAction };
  try {
    await target.command({ create: name, ...others, ...validation, writeConcern: DURABLE }, { ignoreUndefined: true });
  } catch (error) {
    if (!(error instanceof mongoose.mongo.MongoServerError && error.code === EXISTS)) throw error;
  }
}

/** Gives a collection the indexes of another one; existing indexes stay as they are. @throws AbortError when the signal aborts */
export async function indexLike(target: mongo.Db, source: mongo.Db, name: string, signal: AbortSignal): Promise<void> {
  const indexes = (await indexesOf(source, name)).filter(({ name: index }) => index !== '_id_');
  // as the server describes them, but without the version of their format, which each server chooses itself
  const described = indexes.map(({ v: _version, ...index }) => index);
  if (described.length === 0) return;
  // without a timeout: the driver notices if the server goes away
  const patient = { signal, socketTimeoutMS: 0 };
  await target.command({ createIndexes: name, indexes: described, writeConcern: DURABLE }, patient);
}

/** A collection's indexes as the server describes them, by name. */
export async function indexesOf(database: mongo.Db, name: string): Promise<(Description & { readonly v?: number })[]> {
  return ((await existingIndexes(database, name)) ?? []).sort(byName);
}

const byName = (one: { readonly name: string }, another: { readonly name: string }): number =>
  one.name < another.name ? -1 : 1;

/**
 * Makes the server refuse inserts and updates by other programs, with error 121. Resolves with the collections for which
 * that is not possible: the user lacks the privilege, or the collection's own validator only warns.
 */
export async function close(database: mongo.Db, isIncluded: (name: string) => boolean): Promise<string[]> {
  const left: string[] = [];
  for (const { name, options } of await collectionsOf(database)) {
    if (!isIncluded(name)) continue;
    const { validator = {}, validationLevel = 'strict', validationAction = 'error' } = options;
    if (isClosed(validator)) continue;
    if (validationLevel !== 'strict' || validationAction !== 'error') left.push(name);
    else if (!(await modify(database, name, { $and: [NOTHING, validator] }))) left.push(name);
  }
  return left;
}

/** Undoes {@link close}. */
export async function reopen(database: mongo.Db): Promise<void> {
  for (const { name, options } of await collectionsOf(database)) {
    if (isClosed(options.validator)) await modify(database, name, ownValidator(options.validator) ?? {});
  }
}

/** False if the user lacks the privilege. */
async function modify(database: mongo.Db, name: string, validator: object): Promise<boolean> {
  try {
    await database.command({ collMod: name, validator, writeConcern: DURABLE });
    return true;
  } catch (error) {
    if (isUnauthorised(error)) return false;
    throw error;
  }
}

function isClosed(validator: Options['validator'] = {}): boolean {
  return Array.isArray(validator.$and) && isDeepStrictEqual(validator.$and[0], NOTHING);
}

/** The validator that a collection had before it was closed; undefined if it had none. */
function ownValidator(validator: Options['validator'] = {}): Options['validator'] {
  const own = isClosed(validator) ? (validator.$and as Readonly<Record<string, unknown>>[])[1] : validator;
  return own && Object.keys(own).length > 0 ? own : undefined;
}
