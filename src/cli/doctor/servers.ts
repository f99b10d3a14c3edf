import { hostname } from 'node:os';
import { oldestInLog, openChanges, whyLogUnreadable } from '../../mongo/changeCursor';
import { WRONG_BY } from '../../mongo/clock';
import { OLDEST_MONGODB } from '../../mongo/deployment';
import { isUnauthorised } from '../../mongo/faults';
import { heartbeatDatabase } from '../../mongo/shardHealth';
import { PRIVILEGES } from '../../mongo/shards';
import { readTail, tailRows } from '../../events/tail/lease';
import { MINUTE } from '../../units';
import type { Store } from '../store';
import { counted } from '../terminal';
import { type Check, examine, Finding, type CheckResult, type DoctorContext } from './check';
import { entry, isOnAtlas } from '../connection';

/* Checks of the database's servers: replica set, transactions, clock and log. */

/** Doctor warns about a transaction limit longer than this, in seconds. */
const LONGEST_TRANSACTION = 15;
/** How long mongos may look for a shard's primary, in milliseconds. */
const SHARD_TIMEOUT = 5000;
/** A log shorter than this, in milliseconds, has only just begun. */
const YOUNG = 10 * MINUTE;

type Databases = Store['databases'];
type Hello = Awaited<ReturnType<Databases['hello']>>;

/** Whether the database responds, is a replica set that accepts writes, and rolls transactions back. */
export async function* checkDatabase({ databases, server }: Store): AsyncGenerator<Check> {
  const { control } = databases;
  const client = control.getClient();
  const fix = `see the log of the server in ${entry()}`;
  let hello: Hello | undefined;
  yield await examine('database', 'start it, and check that this machine can reach it', async () => {
    hello = await databases.hello();
    return `connected to ${server.description}; MongoDB ${databases.version} (${OLDEST_MONGODB} or later is required)`;
  });
  if (!hello) return;
  const answer = hello;
  if (databases.shards) yield await checkShards(databases, databases.shards);
  else yield await examine('replica set', fix, () => setOf(answer));
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

/** Which shards there are, whether each responds, and whether this user may choose one for a new organisation. */
function checkShards({ control, streams }: Databases, shards: NonNullable<Databases['shards']>): Promise<Check> {
  const fix = `start a majority of its members; until it responds its organisations get 503, and the events of all wait`;
  return examine('sharded cluster', fix, async (): Promise<CheckResult> => {
    const client = await streams();
    const rights = `give the user the roles ${PRIVILEGES}, so that organisations are spread evenly and can be moved`;
    try {
      const all = await shards.list();
      const down: string[] = [];
      for (const { name } of all) {
        const database = heartbeatDatabase(control.name, name);
        if ((await shards.shardOf(database)) === undefined) await shards.createOn(database, name);
        const read = client.db(database).collection('heartbeats').findOne({}, { maxTimeMS: SHARD_TIMEOUT });
        await read.catch(() => down.push(name));
      }
      if (down.length > 0) throw new Error(`${down.join(', ')} of ${counted(all.length, 'shard')} does not respond`);
      const names = all.map(({ name, draining }) => `${name}${draining ? ' (draining)' : ''}`);
      return { detail: `${counted(all.length, 'shard')}: ${names.join(', ')}` };
    } catch (error) {
      if (!isUnauthorised(error)) throw error;
      return {
        detail: 'this user may not list the shards or choose one, so MongoDB places organisations',
        fix: rights,
      };
    }
  });
}

/** The name of the replica set. @throws Finding if it has no primary */
function setOf({ setName, isWritablePrimary }: Hello): string {
  if (isWritablePrimary === true) return String(setName);
  throw new Finding(
    `${String(setName)} has no writable primary`,
    `start a majority of its members, and list them all in ${entry()} without directConnection`,
  );
}

/**
 * How long the database keeps the transactions of a dead process. Only a warning, since nothing is lost; undefined if the server does not
 * report its limit.
 */
export async function checkTransactionLimit({
  store: { databases },
  config,
}: DoctorContext): Promise<Check | undefined> {
  // a parameter of the shards, which mongos does not report
  const limit = databases.shards ? undefined : await databases.transactionLimit();
  if (limit === undefined) return undefined;
  const fix = `set transactionLifetimeLimitSeconds to ${String(LONGEST_TRANSACTION)} on its servers (mongod --setParameter), so that documents locked by a killed process are released by then`;
  return {
    name: 'transaction limit',
    ok: true,
    detail: `${String(limit)} s`,
    ...(limit > LONGEST_TRANSACTION && !isOnAtlas(config) && { fix }),
  };
}

/** Whether the clocks of the database and of this machine agree. Gateways go by the clock of the database. */
export function checkClocks({ store: { databases } }: DoctorContext): Promise<Check> {
  const fix =
    'correct the wrong clock with NTP (timedatectl set-ntp true; chronyc makestep). Keys and idempotency go by the clock of the database';
  return examine('clocks', fix, () => {
    const [clock] = databases.clocks();
    if (!clock || Math.abs(clock.ahead) < WRONG_BY)
      return `this machine and the database agree within ${String(WRONG_BY / 1000)} s`;
    throw new Error(`the clock of ${clock.machine} is ${distance(clock.ahead)} this machine (${hostname()})`);
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
 * Whether the log can be read, and up to when events are recorded. Only a warning, since everything except events is still served;
 * undefined if the database cannot be read at all, which is reported above.
 */
export async function checkEvents({ store: { databases } }: DoctorContext): Promise<Check | undefined> {
  const outcome = await recordingState(databases).catch(() => undefined);
  return outcome && { name: 'events', ok: true, ...outcome };
}

async function recordingState(databases: Databases): Promise<CheckResult> {
  const client = await databases.streams();
  const row = await readTail(tailRows(client, databases.control.name));
  try {
    await (await openChanges(client, [])).close();
  } catch (error) {
    const reason = whyLogUnreadable(error);
    if (reason === undefined) throw error;
    const fix =
      'run the servers as a replica set, and give the user the role readAnyDatabase (or a role with find and changeStream on all databases)';
    return { detail: `events are not recorded, because ${reason}`, fix };
  }
  const now = databases.now();
  const oldest = databases.shards ? undefined : await oldestInLog(client);
  const logLength = oldest && now - oldest.t * 1000;
  const unknown = databases.shards
    ? 'how far back the logs go is known on each shard (rs.printReplicationInfo())'
    : 'this user may not read how far back the log goes';
  const kept = logLength === undefined ? unknown : `the log goes back ${seconds(logLength)}`;
  if (!row?.at) return { detail: 'the log can be read; no gateway has recorded events yet' };
  const behind = Math.max(0, now - row.at.t * 1000);
  const detail = `recorded up to ${seconds(behind)} ago; ${kept}`;
  // warns before half of the log has passed unrecorded
  if (logLength === undefined || logLength < YOUNG || behind < logLength / 2) return { detail };
  const fix =
    'start a gateway without EVENTS=off, or look for "recording events failed" in the logs of the running gateways, before the unrecorded events drop out of the log; a larger log gives more time';
  return { detail, fix };
}
