import { hostname } from 'node:os';
import { oldestInLog, openChanges, whyLogUnreadable } from '../../database/changeCursor';
import { WRONG_BY } from '../../database/clock';
import { DEFAULT_CLUSTER } from '../../database/connect';
import { OLDEST_MONGODB, tooOld } from '../../database/cluster';
import { readTail, tailRows } from '../../events/tail/lease';
import { MINUTE } from '../../units';
import type { Store } from '../store';
import { counted } from '../terminal';
import { type Check, examine, Finding, type Found, type DoctorContext } from './check';
import { entryOf, clusterPrefix, rethrowWithFix } from './connection';

/* Checks of the servers: replica sets, transactions, clocks and logs. */

/** Doctor warns about a transaction limit longer than this, in seconds. */
const LONGEST_TRANSACTION = 15;
/** A log shorter than this, in milliseconds, has only just begun. */
const YOUNG = 10 * MINUTE;

type Databases = Store['databases'];
type Hello = Awaited<ReturnType<Databases['hello']>>;

/** Whether the database responds, is a replica set that accepts writes, and rolls transactions back. */
export async function* checkDatabase({ databases, server }: Store): AsyncGenerator<Check> {
  const { control } = databases;
  const client = control.getClient();
  const fix = `see the log of the server in ${entryOf(DEFAULT_CLUSTER)}`;
  let hello: Hello | undefined;
  yield await examine('database', 'start it, and check that this machine can reach it', async () => {
    hello = await databases.hello(DEFAULT_CLUSTER);
    const versions = [...databases.versions()].map(
      ([cluster, version]) => tooOld(cluster, version) ?? `${cluster} ${version}`,
    );
    return `connected to ${server.description}; MongoDB ${versions.join(', ')} (${OLDEST_MONGODB} or later is required)`;
  });
  if (!hello) return;
  const answer = hello;
  const set = await examine('replica set', fix, () => setOf(DEFAULT_CLUSTER, answer));
  yield set;
  // transactions need a replica set; that it is missing is reported above
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

/** Whether each cluster of MONGODB_CLUSTERS responds, is a replica set and lets this user read. */
export function checkClusters({ store: { databases }, config: { MONGODB_CLUSTERS } }: DoctorContext): Promise<Check[]> {
  const others = databases.clusters.filter((cluster) => cluster !== DEFAULT_CLUSTER);
  const fix =
    'start it, and check its entry in MONGODB_CLUSTERS; until it responds its organisations get 503, and only they';
  return Promise.all(
    others.map((cluster) =>
      examine(`cluster ${cluster}`, fix, async () => {
        try {
          const set = setOf(cluster, await databases.hello(cluster));
          // anyone may run the commands above; only this shows that the user may read
          await databases.organisationsOn(cluster);
          return `connected; MongoDB ${databases.versions().get(cluster) ?? ''}, replica set ${set}`;
        } catch (error) {
          return await rethrowWithFix(cluster, MONGODB_CLUSTERS[cluster], error);
        }
      }),
    ),
  );
}

/** The name of a cluster's replica set. @throws Finding if it is not a replica set, or has no primary */
function setOf(cluster: string, { setName, isWritablePrimary }: Hello): string {
  if (typeof setName !== 'string') {
    throw new Finding(
      `${clusterPrefix(cluster)}the server is not in a replica set`,
      `run the server in ${entryOf(cluster)} as a replica set (one member is enough: mongod --replSet rs0, then rs.initiate())`,
    );
  }
  if (isWritablePrimary === true) return setName;
  throw new Finding(
    `${clusterPrefix(cluster)}${setName} has no writable primary`,
    `start a majority of its members, and list them all in ${entryOf(cluster)} without directConnection`,
  );
}

/**
 * How long each cluster that responds keeps the transactions of a dead process. Only a warning, since nothing is lost; undefined
 * if no cluster reports its limit.
 */
export async function checkTransactionLimit({ store: { databases } }: DoctorContext): Promise<Check | undefined> {
  const limits = await Promise.all(databases.clusters.map((cluster) => databases.transactionLimit(cluster)));
  const known = databases.clusters.flatMap((cluster, at) => {
    const seconds = limits[at];
    return seconds === undefined ? [] : [{ cluster, seconds }];
  });
  if (known.length === 0) return undefined;
  const detail = known.map(({ cluster, seconds }) => `${cluster} ${String(seconds)} s`).join(', ');
  const long = known.filter(({ seconds }) => seconds > LONGEST_TRANSACTION).map(({ cluster }) => cluster);
  const noun = long.length === 1 ? 'cluster' : 'clusters';
  const fix = `set transactionLifetimeLimitSeconds to ${String(LONGEST_TRANSACTION)} on the servers of ${noun} ${long.join(', ')} (mongod --setParameter), so that documents locked by a killed process are released by then`;
  return { name: 'transaction limit', ok: true, detail, ...(long.length > 0 && { fix }) };
}

/** Whether the clocks of the clusters and of this machine agree. Gateways go by the clock of the database. */
export function checkClocks({ store: { databases } }: DoctorContext): Promise<Check> {
  const fix =
    'correct the wrong clock with NTP (timedatectl set-ntp true; chronyc makestep). Keys and idempotency go by the clock of the database';
  return examine('clocks', fix, () => {
    const clocks = databases.clocks();
    const machine = hostname();
    const wrong = clocks.filter(({ ahead }) => Math.abs(ahead) >= WRONG_BY);
    if (wrong.length === 0) {
      const all = clocks.length === 1 ? 'the database' : counted(clocks.length, 'cluster');
      return `this machine and ${all} agree within ${String(WRONG_BY / 1000)} s`;
    }
    const ofAll = clocks.map(({ ahead }) => ahead);
    // if the databases agree with each other, it is this machine that differs
    const isThisMachine = clocks.length > 1 && Math.max(...ofAll) - Math.min(...ofAll) < WRONG_BY;
    if (isThisMachine)
      throw new Error(`the clock of this machine (${machine}) is ${distance(-(ofAll[0] ?? 0))} all clusters`);
    const faults = wrong.map(
      ({ cluster, ahead, machine: member }) =>
        `the clock of ${member}, the primary of cluster ${cluster}, is ${distance(ahead)} this machine (${machine})`,
    );
    throw new Error(faults.join('; '));
  });
}

/** How far one clock is from another: `90 s ahead of`. `ahead` is in milliseconds. */
function distance(ahead: number): string {
  return `${seconds(Math.abs(ahead))} ${ahead > 0 ? 'ahead of' : 'behind'}`;
}

function seconds(ms: number): string {
  return `${String(Math.round(ms / 1000))} s`;
}

/**
 * Whether the log of each cluster that responds can be read, and up to when its events are recorded. Only warnings, since
 * everything except events is still served.
 */
export async function checkEvents({ store: { databases } }: DoctorContext): Promise<Check | undefined> {
  // fails for a cluster that cannot be read at all, which is reported above
  const found = await Promise.all(
    databases.clusters.map((cluster) => recordingOf(databases, cluster).catch(() => undefined)),
  );
  const known = found.filter((one) => one !== undefined);
  if (known.length === 0) return undefined;
  const fixes = [...new Set(known.flatMap(({ fix }) => fix ?? []))];
  const detail = known.map((one) => one.detail).join('; ');
  return { name: 'events', ok: true, detail, ...(fixes.length > 0 && { fix: fixes.join('; ') }) };
}

async function recordingOf(databases: Databases, cluster: string): Promise<Found> {
  const client = await databases.streams(cluster);
  const row = await readTail(tailRows(client, databases.control.name));
  try {
    await (await openChanges(client, [])).close();
  } catch (error) {
    const reason = whyLogUnreadable(error);
    if (reason === undefined) throw error;
    const fix = `run the servers of cluster ${cluster} as a replica set, and give the user the role readAnyDatabase (or a role with find and changeStream on all databases)`;
    return { detail: `${cluster}: events are not recorded, because ${reason}`, fix };
  }
  const now = databases.timeOf(cluster);
  const oldest = await oldestInLog(client);
  const log = oldest && now - oldest.t * 1000;
  const kept =
    log === undefined ? 'this user may not read how far back the log goes' : `the log goes back ${seconds(log)}`;
  if (!row?.at) return { detail: `${cluster}: the log can be read; no gateway has recorded events yet` };
  const behind = Math.max(0, now - row.at.t * 1000);
  const detail = `${cluster}: recorded up to ${seconds(behind)} ago; ${kept}`;
  if (log === undefined || log < YOUNG || behind < log / 2) return { detail };
  const fix = `start a gateway without EVENTS=off, or look for "recording events failed" in the logs of the running gateways, before the unrecorded events drop out of the log of cluster ${cluster}; a larger log gives more time`;
  return { detail, fix };
}
