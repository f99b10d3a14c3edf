import type { ClientSession, Connection, mongo } from 'mongoose';
import type { Collection } from '../mongo/collection';
import { isDuplicateKey } from '../mongo/faults';
import { createIndexes, indexesOf } from '../mongo/indexes';
import { databaseOf } from '../mongo/native';
import { dropFormer, ONE_CLUSTER_SCHEMA, requireOneCluster } from './formerSchemas';

/*
 * Which versions may start on a control database, and which indexes it has, so that opening it takes one read instead of one command per
 * collection (docs/decisions/control-schema.md).
 */

/**
 * The schema of this version, which starts on databases with this number or a lower one. Raise it only if this version no longer needs what the
 * version before does, such as an index in RETIRED (models.ts): `doctor --fix` then drops that and stores the number, and from then on the
 * version before does not start. test/unit/controlSchema.test.ts has the rules.
 */
export const CONTROL_SCHEMA = 12;

/**
 * Raise it by one whenever an index is added, so that databases get it. It is never below CONTROL_SCHEMA: a database without `indexes` is taken to
 * have those of its `version`.
 */
export const CONTROL_INDEXES = 13;

/** The lowest number that this version can serve. */
const OLDEST_SCHEMA = 10;

interface SchemaDocument {
  readonly _id: 'schema';
  /** The CONTROL_SCHEMA that a version must have to start. */
  readonly version: number;
  /** The CONTROL_INDEXES whose indexes exist; `version` if it is missing. */
  readonly indexes?: number;
  /** Names of the collections and types that SCHEMA_DIR adds, so that a process without it does not leave them out unnoticed. */
  readonly added?: readonly string[];
}

type ControlCollections = readonly Collection<{ readonly _id: string }>[];

/** A later version of this program has dropped what this one needs. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError';

  constructor(database: string, version: number) {
    super(
      `the control database ${database} has schema version ${String(version)}, but this version of scopegate knows only ${String(CONTROL_SCHEMA)}: run the version that made it, or a later one`,
    );
  }
}

/** The control database was last used by a version of this program that is too old. */
export class OlderSchemaError extends Error {
  override readonly name = 'OlderSchemaError';

  constructor(database: string, version: number) {
    super(
      `the control database ${database} has schema version ${String(version)}, but this version of scopegate serves ${String(OLDEST_SCHEMA)} to ${String(CONTROL_SCHEMA)}: upgrade to a version in between first, and run its doctor --fix`,
    );
  }
}

/** The schema version of a control database, within a transaction; this one if its row is lost. */
export async function schemaVersion(control: Connection, session: ClientSession): Promise<number> {
  return (await deploymentOf(control).findOne({ _id: 'schema' }, { session }))?.version ?? CONTROL_SCHEMA;
}

/** What is recorded of the schema; undefined of a database that is new, or whose row is lost. @throws NewerSchemaError; OlderSchemaError; OtherClusterError */
export async function readSchema(control: Connection) {
  const schema = await deploymentOf(control).findOne({ _id: 'schema' });
  const version = schema?.version;
  if (version !== undefined && version > CONTROL_SCHEMA) throw new NewerSchemaError(control.name, version);
  if (version !== undefined && version < OLDEST_SCHEMA) throw new OlderSchemaError(control.name, version);
  if (version === undefined || version < ONE_CLUSTER_SCHEMA)
    await requireOneCluster(databaseOf(control), version !== undefined);
  if (!schema) return undefined;
  const { indexes = schema.version, added = [] } = schema;
  return { version: schema.version, hasIndexes: indexes >= CONTROL_INDEXES, added };
}

/**
 * Adds the indexes of this version, unless they are there, and drops nothing, so that the version before still starts. Concurrent calls are safe:
 * each index is created once. Resolves with what was recorded before. @throws as {@link readSchema}
 */
export async function openSchema(control: Connection, collections: ControlCollections): ReturnType<typeof readSchema> {
  const schema = await readSchema(control);
  if (!schema?.hasIndexes) {
    const create = (definition: ControlCollections[number]) =>
      createIndexes(databaseOf(control), definition, indexesOf(definition));
    await Promise.all(collections.map(create));
    await store(control, { $max: { indexes: CONTROL_INDEXES }, $setOnInsert: { version: CONTROL_SCHEMA } });
  }
  return schema;
}

/**
 * Drops what only versions before this one need, and raises the stored number, so that those no longer start. Resolves with the number before.
 * @throws as {@link readSchema}
 */
export async function raiseSchema(control: Connection, collections: ControlCollections): Promise<number> {
  // undefined for a new database, which has just got this version's number
  const { version = CONTROL_SCHEMA } = (await openSchema(control, collections)) ?? {};
  if (version < CONTROL_SCHEMA) {
    await dropFormer(databaseOf(control), collections);
    await store(control, { $max: { version: CONTROL_SCHEMA } });
  }
  return version;
}

async function store(control: Connection, change: mongo.UpdateFilter<SchemaDocument>): Promise<void> {
  try {
    await deploymentOf(control).updateOne({ _id: 'schema' }, change, { upsert: true });
  } catch (error) {
    // another start stored it at the same moment
    if (!isDuplicateKey(error)) throw error;
  }
}

const deploymentOf = (control: Connection): mongo.Collection<SchemaDocument> =>
  databaseOf(control).collection<SchemaDocument>('deployment');

/** Records the names that SCHEMA_DIR adds, in the row that {@link openSchema} stored; with `only` they replace those that other gateways recorded. */
export async function recordAdded(control: Connection, names: readonly string[], only: boolean): Promise<void> {
  const change = only ? { $set: { added: names } } : { $addToSet: { added: { $each: [...names] } } };
  await deploymentOf(control).updateOne({ _id: 'schema' }, change);
}
