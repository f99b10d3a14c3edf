import { OLDEST_MONGODB, tooOld } from '../../database/version';
import { messageOf } from '../common/failure';
import type { Store } from '../common/open';
import type { Check } from './check';

const REPLICA_SET_HELP =
  'run MongoDB as a replica set (one member is enough: mongod --replSet rs0, then rs.initiate())';

/** Whether the database responds, is a replica set that accepts writes, and rolls transactions back. */
export async function* checkDatabase({ databases, server }: Store): AsyncGenerator<Check> {
  const { control } = databases;
  const admin = control.getClient().db('admin');
  yield await examine('database', 'start it, and check that this machine can reach it', async () => {
    await databases.ping();
    const versions = [...databases.versions()].map(
      ([cluster, version]) => tooOld(cluster, version) ?? `${cluster} ${version}`,
    );
    return {
      ok: true,
      detail: `connected to ${server.description}; MongoDB ${versions.join(', ')} (${OLDEST_MONGODB} or later is required)`,
    };
  });
  yield await examine('replica set', REPLICA_SET_HELP, async () => {
    const hello = (await admin.command({ hello: 1 })) as { setName?: string; isWritablePrimary?: boolean };
    if (hello.setName === undefined) return { ok: false, detail: 'the server is not in a replica set' };
    return {
      ok: hello.isWritablePrimary === true,
      detail: hello.isWritablePrimary ? hello.setName : `${hello.setName} has no writable primary`,
    };
  });
  yield await examine('transactions', REPLICA_SET_HELP, async () => {
    const probes = control.getClient().db(control.name).collection('doctor');
    const session = control.getClient().startSession();
    try {
      session.startTransaction({ writeConcern: { w: 'majority', journal: true } });
      const { insertedId } = await probes.insertOne({ at: new Date() }, { session });
      await session.abortTransaction();
      const left = await probes.findOne({ _id: insertedId });
      return left
        ? { ok: false, detail: 'a write from an aborted transaction was kept' }
        : { ok: true, detail: 'begin, write and rollback work' };
    } finally {
      await session.endSession();
    }
  });
}

async function examine(
  name: string,
  fix: string,
  look: () => Promise<{ ok: boolean; detail: string }>,
): Promise<Check> {
  try {
    const { ok, detail } = await look();
    return { name, ok, detail, ...(!ok && { fix }) };
  } catch (error) {
    return { name, ok: false, detail: messageOf(error), fix };
  }
}
