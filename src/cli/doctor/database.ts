import { DEFAULT_CLUSTER } from '../../database/connect';
import { OLDEST_MONGODB, OldServerError, tooOld } from '../../database/version';
import type { Store } from '../common/open';
import { type Check, examine, Finding } from './check';
import { connectionFinding } from './connection';

/** Adds the fix to an error of connecting to a cluster, if it is known. */
export function rethrowWithFix(cluster: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof OldServerError)
      throw new Finding(error.message, `upgrade that cluster to MongoDB ${OLDEST_MONGODB} or later`);
    throw connectionFinding(cluster, error) ?? error;
  };
}

const REPLICA_SET_HELP =
  'run MongoDB as a replica set (one member is enough: mongod --replSet rs0, then rs.initiate())';

/** Whether each cluster of MONGODB_CLUSTERS responds. */
export function checkClusters({ databases }: Store): Promise<Check[]> {
  const others = databases.clusters.filter((cluster) => cluster !== DEFAULT_CLUSTER);
  const fix =
    'start it, and check its entry in MONGODB_CLUSTERS; until it responds its organisations get 503, and only they';
  return Promise.all(
    others.map((cluster) =>
      examine(`cluster ${cluster}`, fix, async () => {
        await databases.reach(cluster).catch(rethrowWithFix(cluster));
        return `connected; MongoDB ${databases.versions().get(cluster) ?? ''}`;
      }),
    ),
  );
}

/** Whether the database responds, is a replica set that accepts writes, and rolls transactions back. */
export async function* checkDatabase({ databases, server }: Store): AsyncGenerator<Check> {
  const { control } = databases;
  const client = control.getClient();
  yield await examine('database', 'start it, and check that this machine can reach it', async () => {
    await databases.ping();
    const versions = [...databases.versions()].map(
      ([cluster, version]) => tooOld(cluster, version) ?? `${cluster} ${version}`,
    );
    return `connected to ${server.description}; MongoDB ${versions.join(', ')} (${OLDEST_MONGODB} or later is required)`;
  });
  yield await examine('replica set', REPLICA_SET_HELP, async () => {
    const { setName, isWritablePrimary } = await client.db('admin').command({ hello: 1 });
    if (setName === undefined) throw new Error('the server is not in a replica set');
    if (!isWritablePrimary) throw new Error(`${String(setName)} has no writable primary`);
    return String(setName);
  });
  yield await examine('transactions', REPLICA_SET_HELP, async () => {
    const probes = client.db(control.name).collection('doctor');
    const session = client.startSession();
    try {
      session.startTransaction({ writeConcern: { w: 'majority', journal: true } });
      const { insertedId } = await probes.insertOne({ at: new Date() }, { session });
      await session.abortTransaction();
      if (await probes.findOne({ _id: insertedId })) throw new Error('a write from an aborted transaction was kept');
      return 'begin, write and rollback work';
    } finally {
      await session.endSession();
    }
  });
}
