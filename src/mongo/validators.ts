import { isDeepStrictEqual } from 'node:util';
import type { mongo } from 'mongoose';
import type { Collection } from './collection';
import { isExistingNamespace } from './faults';

/*
 * MongoDB checks rows by the schema of their collection, whoever writes them (docs/decisions/stored-validation.md).
 */

/** What MongoDB does with a row that the schema does not allow (STORED_VALIDATION): refuses it, stores and logs it, or does not check. */
export type Validation = 'error' | 'warn' | 'off';

/** The options of a collection that decide what MongoDB checks. */
interface ValidationOptions {
  readonly validator?: { readonly $jsonSchema?: { readonly title?: unknown; readonly anyOf?: unknown } };
  readonly validationLevel?: string;
  readonly validationAction?: string;
}

/** `moderate` does not check updates of rows that were invalid before, so that they can be corrected member by member. */
const LEVEL = 'moderate';

/** The options that a collection should have; undefined if nothing is to be checked. */
function optionsOf({ schema }: Collection, validation: Validation) {
  if (!schema || validation === 'off') return undefined;
  return { validator: { $jsonSchema: schema }, validationLevel: LEVEL, validationAction: validation };
}

/** Creates a missing collection if MongoDB is to check its rows; one without a schema is created with its indexes. */
export async function createChecked(database: mongo.Db, definition: Collection, validation: Validation): Promise<void> {
  const options = optionsOf(definition, validation);
  if (!options) return;
  try {
    await database.createCollection(definition.name, options);
  } catch (error) {
    // another process was faster
    if (!isExistingNamespace(error)) throw error;
  }
}

/** Replaces the validator of a collection that exists. */
export async function setValidator(database: mongo.Db, definition: Collection, validation: Validation): Promise<void> {
  await modify(database, definition, definedOptions(definition, validation));
}

/** All options that decide what is checked: those that a collection should have, or those with which nothing is checked. */
function definedOptions(definition: Collection, validation: Validation): object {
  return optionsOf(definition, validation) ?? { validator: {}, validationLevel: 'off', validationAction: 'error' };
}

async function modify(database: mongo.Db, { name }: Collection, options: object): Promise<void> {
  // a command that the driver does not know inherits no write concern
  await database.command({ collMod: name, ...options, writeConcern: { w: 'majority', j: true } });
}

/** The options of the collections that exist, by name; one command. */
export async function validationOptions(database: mongo.Db): Promise<ReadonlyMap<string, ValidationOptions>> {
  const collections = await database.listCollections<mongo.CollectionInfo>({}).toArray();
  return new Map(collections.map(({ name, options = {} }) => [name, options]));
}

/** Whether a collection has the validator that it should have, none, one of another version of ours (outdated), or one of another program (foreign). */
export function validatorState(
  definition: Collection,
  { validator, validationLevel, validationAction }: ValidationOptions,
  validation: Validation,
): 'current' | 'missing' | 'outdated' | 'foreign' {
  const defined = optionsOf(definition, validation);
  const hasValidator = validator !== undefined && Object.keys(validator).length > 0;
  if (!hasValidator) return defined ? 'missing' : 'current';
  if (!hasSameTitle(definition, validator)) return definition.schema ? 'foreign' : 'current';
  return defined && isDeepStrictEqual({ validator, validationLevel, validationAction }, defined)
    ? 'current'
    : 'outdated';
}

/** Whether a validator is of this or another version of ours, all of which give its schema the same title. */
function hasSameTitle(
  { schema }: Collection,
  { $jsonSchema: storedSchema }: NonNullable<ValidationOptions['validator']>,
): boolean {
  const { title }: { readonly title?: unknown } = schema ?? {};
  return title !== undefined && storedSchema?.title === title;
}

/** How many schemas a widened validator has at a time: those of two versions that gateways run at once, and of one that they ran before. */
const MOST_SCHEMAS = 3;
/** How long a write waits for transactions that use the collection, in milliseconds: other commands wait behind this one. */
const WITHIN = 5000;

/**
 * Widens the validator of a collection, if it is of another version, so that it also allows what this version writes. Gateways of several versions
 * do so in turn, so it allows no less than before, except for the oldest schema beyond {@link MOST_SCHEMAS}; if two do so at the same time, the
 * schema of the first is lost. `doctor --fix` leaves only the current schema. Resolves with whether the validator was changed.
 */
export async function widenValidator(
  database: mongo.Db,
  definition: Collection,
  options: ValidationOptions,
  validation: Validation,
): Promise<boolean> {
  if (validatorState(definition, options, validation) !== 'outdated') return false;
  let widened = definedOptions(definition, validation);
  if (validation === 'error') {
    const { $jsonSchema: before } = options.validator ?? {};
    const { title }: { readonly title?: unknown } = definition.schema ?? {};
    const schemas: unknown[] = Array.isArray(before?.anyOf) ? before.anyOf : [before];
    if (schemas.some((schema) => isDeepStrictEqual(schema, definition.schema))) return false;
    const anyOf = [definition.schema, ...schemas].slice(0, MOST_SCHEMAS);
    widened = { validator: { $jsonSchema: { title, anyOf } } };
  }
  await modify(database, definition, { ...widened, maxTimeMS: WITHIN });
  return true;
}
