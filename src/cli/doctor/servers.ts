import { hostname } from 'node:os';
import { WRONG_BY } from '../../mongo/clock';
import { OLDEST_MONGODB } from '../../mongo/deployment';
import { isUnauthorised, isUnavailable } from '../../mongo/faults';
import { heartbeatDatabase } from '../../mongo/shardHealth';
import { PRIVILEGES } from '../../mongo/shards';
import type { Store } from '../store';
import { counted } from '../terminal';
import { type Check, examine, Finding, type CheckResult, type DoctorContext } from './check';
import { uriVariable, isOnAtlas } from '../connection';

/* Checks of the database's servers: replica set, transactions and clock. */

/**
 * Doctor warns about a transaction limit longer than this, in seconds. The embedded server and the guide set it: a killed gateway leaves its rows
 * locked for so long, and the longest write, of 1,000 rows, takes a few seconds.
 */
const LONGEST_TRANSACTION = 15;
/** How long mongos may look for a shard's primary, in milliseconds. */
const SHARD_TIMEOUT = 5000;

type Databases = Store['databases'];
type Hello = Awaited<ReturnType<Databases['hello']>>;

/** Whether the database responds, is a replica set that accepts writes, and rolls transactions back. */
export async function* checkDatabase({ databases, server }: Store): AsyncGenerator<Check> {
  const { control } = databases;
  const client = control.getClient();
  const fix = `see the log of the server in ${uriVariable()}`;
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
function checkShards({ control }: Databases, shards: NonNullable<Databases['shards']>): Promise<Check> {
  const fix = `start a majority of its members; until it responds its organisations get 503, and the events of all wait`;
  return examine('sharded cluster', fix, async (): Promise<CheckResult> => {
    const client = control.getClient();
    const rights = `give the user ${PRIVILEGES}, so that organisations are spread evenly and can be moved`;
    try {
      const all = await shards.list();
      const down: string[] = [];
      for (const { name, draining } of all) {
        // the database of heartbeats, once created there, would keep MongoDB from emptying it
        if (draining) continue;
        const database = heartbeatDatabase(control.name, name);
        try {
          // created even without --fix: only that tests the privilege, and gateways create it anyway
          if ((await shards.shardOf(database)) === undefined) await shards.createOn(database, name);
          await client.db(database).collection('heartbeats').findOne({}, { maxTimeMS: SHARD_TIMEOUT });
        } catch (error) {
          if (!isUnavailable(error)) throw error;
          down.push(name);
        }
      }
      if (down.length > 0)
        throw new Error(
          `${down.join(', ')} of ${counted(all.length, 'shard')} ${down.length === 1 ? 'does' : 'do'} not respond`,
        );
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
    `start a majority of its members, and list them all in ${uriVariable()} without directConnection`,
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
  const setting = isOnAtlas(config)
    ? `the transaction lifetime (Additional Settings) to ${String(LONGEST_TRANSACTION)} seconds`
    : `transactionLifetimeLimitSeconds to ${String(LONGEST_TRANSACTION)} on its servers (mongod --setParameter)`;
  const fix = `set ${setting}, so that documents locked by a killed process are released by then`;
  return {
    name: 'transaction limit',
    ok: true,
    detail: `${String(limit)} s`,
    ...(limit > LONGEST_TRANSACTION && { fix }),
  };
}

/** Whether the clocks of the database and of this machine agree. Gateways go by the clock of the database. */
export function checkClocks({ store: { databases } }: DoctorContext): Promise<Check> {
  const fix =
    'correct the wrong clock with NTP (timedatectl set-ntp true; chronyc makestep). Keys and idempotency go by the clock of the database';
  return examine('clocks', fix, () => {
    const clock = databases.clockDifference();
    if (!clock || Math.abs(clock.ahead) < WRONG_BY)
      return `this machine and the database agree within ${String(WRONG_BY / 1000)} s`;
    throw new Error(`the clock of ${clock.machine} is ${distance(clock.ahead)} this machine (${hostname()})`);
  });
}

/** How far one clock is from another: `90 s ahead of`. `ahead` is in milliseconds. */
function distance(ahead: number): string {
  return `${seconds(Math.abs(ahead))} ${ahead > 0 ? 'ahead of' : 'behind'}`;
}

export function seconds(ms: number): string {
  return `${String(Math.round(ms / 1000))} s`;
}
