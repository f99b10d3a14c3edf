import type { Config } from '../../config';
import { DEFAULT_CLUSTER } from '../../database/connect';
import { OLDEST_MONGODB, OldServerError, tooOld } from '../../database/version';
import { NewerSchemaError } from '../../organisations/controlSchema';
import type { Store } from '../common/open';
import { type Check, examine, Finding } from './check';
import { connectionFinding, entryOf, looksDown, ofCluster } from './connection';
import { askPlainly } from './plainly';

/** Adds the fix to an error of connecting to a cluster, if it is known; `uri` is what it was connected with. */
export function rethrowWithFix(cluster: string, uri: string | undefined): (error: unknown) => Promise<never> {
  return async (error) => {
    if (error instanceof OldServerError)
      throw new Finding(error.message, `upgrade that cluster to MongoDB ${OLDEST_MONGODB} or later`);
    if (error instanceof NewerSchemaError)
      throw new Finding(error.message, 'install that version here, or set CONTROL_DATABASE if another one was meant');
    const asked = uri !== undefined && looksDown(error) ? await askPlainly(cluster, uri) : undefined;
    throw asked ?? connectionFinding(cluster, error) ?? error;
  };
}

/** Whether each cluster of MONGODB_CLUSTERS responds, is a replica set and lets this user read. */
export function checkClusters({ databases }: Store, { MONGODB_CLUSTERS }: Config): Promise<Check[]> {
  const others = databases.clusters.filter((cluster) => cluster !== DEFAULT_CLUSTER);
  const fix =
    'start it, and check its entry in MONGODB_CLUSTERS; until it responds its organisations get 503, and only they';
  return Promise.all(
    others.map((cluster) =>
      examine(`cluster ${cluster}`, fix, async () => {
        try {
          const set = setOf(cluster, await databases.hello(cluster));
          // anyone may ask for the two before, so only this tells whether the user may read
          await databases.organisationsOn(cluster);
          return `connected; MongoDB ${databases.versions().get(cluster) ?? ''}, replica set ${set}`;
        } catch (error) {
          return await rethrowWithFix(cluster, MONGODB_CLUSTERS[cluster])(error);
        }
      }),
    ),
  );
}

/** The name of a cluster's replica set. @throws Finding if it is none, or has no primary */
function setOf(cluster: string, { setName, isWritablePrimary }: Awaited<ReturnType<Hello>>): string {
  if (typeof setName !== 'string') {
    throw new Finding(
      `${ofCluster(cluster)}the server is not in a replica set`,
      `run the server in ${entryOf(cluster)} as a replica set (one member is enough: mongod --replSet rs0, then rs.initiate())`,
    );
  }
  if (isWritablePrimary === true) return setName;
  throw new Finding(
    `${ofCluster(cluster)}${setName} has no writable primary`,
    `start a majority of its members, and list them all in ${entryOf(cluster)} without directConnection`,
  );
}

type Hello = Store['databases']['hello'];

/** Whether the database responds, is a replica set that accepts writes, and rolls transactions back. */
export async function* checkDatabase({ databases, server }: Store): AsyncGenerator<Check> {
  const { control } = databases;
  const client = control.getClient();
  const fix = `see the log of the server in ${entryOf(DEFAULT_CLUSTER)}`;
  let hello: Awaited<ReturnType<Hello>> | undefined;
  yield await examine('database', 'start it, and check that this machine can reach it', async () => {
    hello = await databases.hello(DEFAULT_CLUSTER);
    const versions = [...databases.versions()].map(
      ([cluster, version]) => tooOld(cluster, version) ?? `${cluster} ${version}`,
    );
    return `connected to ${server.description}; MongoDB ${versions.join(', ')} (${OLDEST_MONGODB} or later is required)`;
  });
  if (!hello) return;
  const told = hello;
  const set = await examine('replica set', fix, () => setOf(DEFAULT_CLUSTER, told));
  yield set;
  // without a replica set there are none, which is said already
  if (!set.ok) return;
  yield await examine('transactions', fix, async () => {
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
