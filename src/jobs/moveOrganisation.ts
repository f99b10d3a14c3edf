import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import mongoose from 'mongoose';
import { clusterTimeOf } from '../mongo/changeCursor';
import type { Databases } from '../tenant/databases';
import { isUnauthorised, isUnavailable } from '../mongo/faults';
import { keepLease } from '../mongo/lease';
import { READ_TIMEOUT } from '../mongo/native';
import { LACKS_PRIVILEGES, type Shards, ShardRefused } from '../mongo/shards';
import { timeDigits } from '../events/position';
import { readTail } from '../events/tail/lease';
import { JobRefused } from '../organisations/jobs';
import { SEEN_EVERY } from '../organisations/moving';
import type { Stores } from './stores';

export interface MoveResult {
  /** Null if it had no database yet. */
  readonly from: string | null;
  readonly to: string;
  /** How long requests were refused, in milliseconds. */
  readonly refused: number;
}

export interface MoveRequest {
  readonly id: string;
  readonly to: string;
  readonly signal: AbortSignal;
  /** Called when a step begins; `moving` once MongoDB may have been asked. */
  readonly onStep: (step: 'waiting' | 'moving') => void;
}

/** How long to wait until the events of the last changes are recorded, and how often to check, in milliseconds. */
const RECORDED_WITHIN = 30_000;
const LOOK_EVERY = 100;
/** If the lease of the tail, which records events, ended this long ago (ms), no gateway is about to take it. */
const LAPSED = 5000;

/**
 * Has MongoDB move an organisation's database to another shard, while its requests are refused (docs/decisions/shards.md). If the process is
 * killed or interrupted, MongoDB goes on, and a gateway ends the move.
 * @throws JobRefused if it cannot be moved, or another process has taken over; AbortError once `signal` aborts; any error of the database. After an
 * AbortError or an error of the database the move may go on, with requests refused until a gateway ends it; it does if MongoDB may have been asked.
 */
export async function moveOrganisation(stores: Stores, { id, to, signal, onStep }: MoveRequest): Promise<MoveResult> {
  const { databases, control } = stores;
  const shards = requireShards(databases);
  await shards.require(to).catch(rethrowShardRefused);
  const before = await control.moving.moveOf(id);
  if (!before) throw new JobRefused(`there is no organisation ${id}`);
  const isTakeover = before.move !== undefined;
  const from = await shardOf(shards, id);
  if (!isTakeover && from === to) throw new JobRefused(`organisation ${id} is on shard ${to} already`);
  const self = { id, mover: randomUUID() };
  const began = performance.now();
  if (!(await control.moving.begin(self, to))) throw new JobRefused(`there is no organisation ${id}`);
  // nothing watches whether it is lost: `beat` asks before MongoDB is asked, and so do `finish` and `undo`
  const heartbeat = keepLease({ renew: () => control.moving.beat(self), every: SEEN_EVERY });
  try {
    // MongoDB may have ended a move that a killed process began
    if (from !== to) {
      await waitForOthers();
      await move();
    }
    if (!(await control.moving.finish(self, { from, to }))) throw takenOver();
    return { from, to, refused: performance.now() - began };
  } finally {
    await heartbeat.stop();
  }

  /** Waits until no read or write of the organisation is under way, and the events of its changes are recorded. */
  async function waitForOthers(): Promise<void> {
    onStep(isTakeover ? 'moving' : 'waiting');
    // no read that began before the move lasts longer
    const readsEnd = sleep(READ_TIMEOUT, undefined, { signal });
    // no unhandled rejection if it rejects while something else is awaited
    readsEnd.catch(() => undefined);
    try {
      await databases.organisationData({ id }).slots.fence();
      await awaitEvents(databases, signal);
      await readsEnd;
    } catch (error) {
      // the killed process may have asked MongoDB, and until that is known the requests stay refused
      if (isTakeover) throw error;
      await undo();
      signal.throwIfAborted();
      throw staysWhereItWas(error);
    }
  }

  async function move(): Promise<void> {
    if (!(await control.moving.beat(self))) throw takenOver();
    onStep('moving');
    try {
      await shards.move(id, to, signal);
    } catch (error) {
      // MongoDB may go on, and until that is known the requests stay refused
      if (isUnanswered(error)) throw error;
      if ((await shardOf(shards, id)) === to) return;
      await undo();
      throw staysWhereItWas(error);
    }
  }

  /** Lets requests begin again. */
  async function undo(): Promise<void> {
    if (!(await control.moving.undo(self, { to }))) throw takenOver();
  }
}

function requireShards({ shards }: Pick<Databases, 'shards'>): Shards {
  if (!shards) throw new JobRefused('the database is a replica set, without shards');
  return shards;
}

async function shardOf(shards: Shards, id: string): Promise<string | null> {
  return (await shards.of([id])).get(id) ?? null;
}

function rethrowShardRefused(error: unknown): never {
  throw error instanceof ShardRefused ? new JobRefused(error.message) : error;
}

const takenOver = (): JobRefused => new JobRefused('another process has taken over the move');

function staysWhereItWas(cause: unknown): JobRefused {
  const why = isUnauthorised(cause) ? LACKS_PRIVILEGES : (cause as Error).message;
  return new JobRefused(`${why}; the organisation stays where it was`, { cause });
}

/** Whether a command has no answer, so that the server may still be doing it. */
function isUnanswered(error: unknown): boolean {
  return !(error instanceof mongoose.mongo.MongoServerError) || isUnavailable(error);
}

/**
 * Waits until the events of all changes so far are stored, since their rows are in the database that is moved. Does not wait if none was
 * ever recorded, or the server does not say its time. @throws JobRefused if no gateway records them, or it takes too long; AbortError
 */
async function awaitEvents(
  databases: Pick<Databases, 'control' | 'streams' | 'now'>,
  signal: AbortSignal,
): Promise<void> {
  const time = await clusterTimeOf(await databases.streams());
  const latest = performance.now() + RECORDED_WITHIN;
  for (;;) {
    const row = await readTail(databases);
    if (!row?.at || !time || timeDigits(row.at) >= timeDigits(time)) return;
    if (performance.now() > latest || row.until.getTime() < databases.now() - LAPSED)
      throw new JobRefused('the events of its last changes are not recorded; start a gateway without EVENTS=off first');
    await sleep(LOOK_EVERY, undefined, { signal });
  }
}
