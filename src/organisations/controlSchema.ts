import type { Connection, mongo } from 'mongoose';
import type { Collection } from '../mongo/collection';
import { isDuplicateKey, isNoSuchIndex } from '../mongo/faults';
import { createIndexes, dropIndexes, existingIndexes, indexesOf } from '../mongo/indexes';
import { databaseOf } from '../mongo/native';
import { FOR_EARLIER_VERSIONS } from './organisationRows';

/* Which indexes the control database has, so that opening it takes one read instead of one command per collection. */

/** Raise it whenever an index of the control database is added or changed; test/unit/controlSchema.test.ts checks that you did. */
export const CONTROL_SCHEMA = 12;

interface SchemaDocument {
  readonly _id: 'schema';
  readonly version: number;
  /** Names of the collections and types that SCHEMA_DIR adds, so that a process without it does not leave them out unnoticed. */
  readonly added?: readonly string[];
}

/** The control database was made by a later version of this program. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError';

  constructor(database: string, version: number) {
    super(
      `the control database ${database} has schema version ${String(version)}, but this version of scopegate knows only ${String(CONTROL_SCHEMA)}: run the version that made it, or a later one`,
    );
  }
}

/** The cluster of data that earlier versions stored with the control database. */
const THIS_CLUSTER = FOR_EARLIER_VERSIONS.cluster;

/** An organisation as versions before 11 stored it. */
interface FormerOrganisation {
  readonly _id: string;
  /** Where its data was: `default` in the database with the control database. */
  readonly cluster?: string | null;
  readonly state?: string;
  readonly move?: { readonly to: string };
  readonly copies?: readonly { readonly cluster: string }[];
}

/** Data of an organisation that an earlier version stored elsewhere, and of which this version would know nothing. */
export class OtherClusterError extends Error {
  override readonly name = 'OtherClusterError';
}

/** @throws OtherClusterError unless all data is in this database, or its organisation is suspended until it is imported */
async function requireOneCluster(rows: mongo.Collection<FormerOrganisation>): Promise<void> {
  const elsewhere = { cluster: { $nin: [THIS_CLUSTER, null] }, state: { $ne: 'suspended' } } as const;
  const unended = { 'move.to': { $exists: true } } as const;
  const first = await rows.findOne({ $or: [elsewhere, unended, { 'copies.0': { $exists: true } }] });
  if (!first) return;
  const { _id: id, cluster, move, copies = [] } = first;
  const fault = move
    ? `organisation ${id} is being moved to the cluster ${move.to}`
    : copies.length > 0
      ? `a move left a copy of organisation ${id} on the cluster ${copies[0]?.cluster ?? ''}`
      : `the data of organisation ${id} is on the cluster ${String(cluster)}`;
  throw new OtherClusterError(
    `${fault}, and this version has one database: run the version before, and bring organisations of other clusters over by export and import with their ids (docs/guides/sharding.md, From MONGODB_CLUSTERS)`,
  );
}

/** Drops members and indexes that earlier versions had and this one does not; `cluster` stays, which their gateways need until all are upgraded. */
async function dropObsolete(database: mongo.Db, definitions: readonly Collection<{ readonly _id: string }>[]) {
  const former = { $or: [{ files: { $exists: true } }, { copies: { $exists: true } }] };
  await database.collection('organisations').updateMany(former, { $unset: { files: 1, copies: 1 } });
  for (const definition of definitions) {
    const there = new Set((await existingIndexes(database, definition.name))?.map(({ name }) => name));
    const surplus = definition.retired.filter((name) => there.has(name));
    await dropIndexes(database, definition, surplus).catch((error: unknown) => {
      // another start dropped it
      if (!isNoSuchIndex(error)) throw error;
    });
  }
}

/**
 * Creates the indexes of the control database and drops former ones, unless this version's exist already. Concurrent calls are safe: each index is
 * created once, and the stored version never goes down. Resolves with what is recorded of SCHEMA_DIR. @throws NewerSchemaError;
 * OtherClusterError
 */
export async function adoptSchema(
  control: Connection,
  collections: readonly Collection<{ readonly _id: string }>[],
): Promise<readonly string[]> {
  const rows = deploymentOf(control);
  const { version = 0, added = [] } = (await rows.findOne({ _id: 'schema' })) ?? {};
  if (version > CONTROL_SCHEMA) throw new NewerSchemaError(control.name, version);
  if (version === CONTROL_SCHEMA) return added;
  await requireOneCluster(databaseOf(control).collection<FormerOrganisation>('organisations'));
  await Promise.all(
    collections.map((definition) => createIndexes(databaseOf(control), definition, indexesOf(definition))),
  );
  if (version > 0) await dropObsolete(databaseOf(control), collections);
  try {
    await rows.updateOne({ _id: 'schema' }, { $max: { version: CONTROL_SCHEMA } }, { upsert: true });
  } catch (error) {
    // another start stored it at the same moment
    if (!isDuplicateKey(error)) throw error;
  }
  return added;
}

const deploymentOf = (control: Connection): mongo.Collection<SchemaDocument> =>
  databaseOf(control).collection<SchemaDocument>('deployment');

/** Records what SCHEMA_DIR adds, beside what other gateways add or, with `only`, instead of it. */
export async function recordAdded(control: Connection, names: readonly string[], only: boolean): Promise<void> {
  const change = only ? { $set: { added: names } } : { $addToSet: { added: { $each: [...names] } } };
  await deploymentOf(control).updateOne({ _id: 'schema' }, change);
}
