import type { mongo } from 'mongoose';
import type { Collection } from '../mongo/collection';
import { dropIndexes, existingIndexes } from '../mongo/indexes';
import { FOR_EARLIER_VERSIONS } from './organisationRows';

/* What the control schemas of earlier versions had and this one's lacks: several clusters (before 11), and indexes. */

export const ONE_CLUSTER_SCHEMA = 11;

/** The cluster of data that earlier versions stored with the control database. */
const THIS_CLUSTER = FOR_EARLIER_VERSIONS.cluster;

/** An organisation as versions before 11 stored it. */
interface FormerOrganisation {
  readonly _id: string;
  /** Where its data was: `default` in the database with the control database. */
  readonly cluster?: string | null;
  readonly state?: string;
  /** To another cluster. */
  readonly move?: { readonly to: string };
  readonly copies?: readonly { readonly cluster: string }[];
  readonly files?: number;
}

/** Data of an organisation that an earlier version stored elsewhere, and of which this version would know nothing. */
export class OtherClusterError extends Error {
  override readonly name = 'OtherClusterError';
}

/**
 * Requires that all data is in this database: every organisation elsewhere is suspended (until it is imported), none is being moved to another
 * cluster, and no move left a copy. `isFormer` is whether the schema is known to be before {@link ONE_CLUSTER_SCHEMA}, under which this version moves
 * nothing (moving.ts): in a database whose schema row is lost, a move is one to a shard.
 * @throws OtherClusterError
 */
export async function requireOneCluster(database: mongo.Db, isFormer: boolean): Promise<void> {
  const elsewhere = { cluster: { $nin: [THIS_CLUSTER, null] }, state: { $ne: 'suspended' } } as const;
  const unended = isFormer ? [{ 'move.to': { $exists: true } }] : [];
  const first = await database
    .collection<FormerOrganisation>('organisations')
    .findOne({ $or: [elsewhere, ...unended, { 'copies.0': { $exists: true } }] });
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

/** Drops members and indexes that only versions before CONTROL_SCHEMA (controlSchema.ts) need; `cluster` stays in rows, as versions with 11 and 12 write it. */
export async function dropFormer(
  database: mongo.Db,
  definitions: readonly Collection<{ readonly _id: string }>[],
): Promise<void> {
  const former = { $or: [{ files: { $exists: true } }, { copies: { $exists: true } }] };
  await database
    .collection<FormerOrganisation>('organisations')
    .updateMany(former, { $unset: { files: 1, copies: 1 } });
  for (const definition of definitions) {
    const existing = new Set((await existingIndexes(database, definition.name))?.map(({ name }) => name));
    const surplus = definition.retired.filter((name) => existing.has(name));
    await dropIndexes(database, definition, surplus);
  }
}
