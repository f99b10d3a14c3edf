import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientSession, mongo } from 'mongoose';
import { AppError } from '../errors';
import { READ_TIMEOUT } from '../mongo/native';
import type { OrganisationData } from './organisationData';
import type { UnitOptions } from './unitOfWork';
import {
  END_TIMEOUT,
  endlessWrite,
  logicalTime,
  OPEN,
  type OpenWrite,
  openWrites,
  SETTLED_READ,
  SWEEP_TIMEOUT,
  type Writer,
} from './slots';

/*
 * Tracks writes in progress, each of which holds a slot, a row of its own in `open_writes` (slots.ts), so that a caller syncing with
 * `updated_since` never sees a row newer than a write that is not visible yet (docs/decisions/changes-since.md).
 */

/** A write that began this long ago (ms) was abandoned by its gateway: well over the 60 s after which MongoDB ends a transaction. */
export const DEAD_AFTER = 100_000;
/** Options for reading the rows of writes in progress. */
const READ_OPEN = { ...SETTLED_READ, maxTimeMS: READ_TIMEOUT } as const;
/** More writes than can be in progress, so that all are in the first batch, whose time is the session's. */
const MAX_OPEN = 10_000;
/** How often to check whether writes have ended, in milliseconds. */
const ENDED_EVERY = 50;
/** Retry-After, in seconds, for a write that took too long. */
const RETRY_AFTER = 1;

export interface StampedOptions extends UnitOptions {
  readonly by: Writer;
}

/**
 * Runs a write as one transaction; `now` is the timestamp for its objects. The work may run more than once, each time with its own `now`.
 * @throws AppError unavailable if it took so long that readers stopped waiting for it; nothing is stored then.
 * @throws AppError unavailable if the organisation is being moved or erased; quota_exceeded if it has reached its quota, unless it makes room
 */
export async function stampedWrite<T>(
  data: OrganisationData,
  work: (session: ClientSession, now: Date) => Promise<T>,
  options: StampedOptions,
): Promise<T> {
  const { writes, by, upload, dryRun = false, makesRoom = false } = options;
  if (dryRun) {
    await data.prepare(writes);
    return data.transaction((session) => work(session, new Date(data.now())), options);
  }
  if (!makesRoom) await data.requireRoom(upload);
  // before the slot is taken, since readers wait for taken slots
  await data.prepare([...writes, openWrites]);
  const { slots } = data;
  const slot = await slots.begin();
  try {
    const result = await data.transaction(async (session) => {
      const now = await slots.stamp(slot, by, session);
      if (!now) {
        await data.requireOpen();
        throw new AppError('unavailable', 'This write took too long; nothing was stored.', {
          reason: 'slow',
          retryAfter: RETRY_AFTER,
        });
      }
      return await work(session, now);
    }, options);
    slots.release(slot);
    if (makesRoom) data.noteRoom();
    return result;
  } catch (error) {
    slots.abort(slot);
    throw error;
  }
}

/**
 * The time up to which all changes are visible: later writes, and those in progress, get this timestamp or a later one.
 */
export async function settledUntil(data: OrganisationData): Promise<Date> {
  const { now, open } = await inProgress(data);
  return new Date(open.reduce((earliest, { since }) => Math.min(earliest, since?.getTime() ?? Infinity), now));
}

/**
 * Waits until the writes in progress now have ended; all later ones see what is committed. `signal` stops the wait.
 * @throws Error if one of them does not end within {@link END_TIMEOUT}
 */
export async function writesEnded(data: OrganisationData, signal: AbortSignal): Promise<void> {
  // by this process's clock, since rows would not come to count as abandoned if the database's clock were set back
  const until = performance.now() + END_TIMEOUT;
  const keyOf = ({ _id, since }: OpenWrite): string => `${_id} ${String(since?.getTime())}`;
  let awaited: Set<string> | undefined;
  for (;;) {
    signal.throwIfAborted();
    const { open } = await inProgress(data);
    const keys = open.map(keyOf);
    awaited ??= new Set(keys);
    if (!keys.some((key) => awaited?.has(key))) return;
    if (performance.now() > until) throw endlessWrite();
    await sleep(ENDED_EVERY);
  }
}

/** The writes in progress, and the database's time (milliseconds since 1970) just before they were read. */
async function inProgress(data: OrganisationData): Promise<{ now: number; open: OpenWrite[] }> {
  const rows = data.collection(openWrites);
  const { now, open: allOpen } = data.isSharded ? await inProgressOnShard(data) : await inProgressInSet(data);
  let open = allOpen;
  const dead = new Date(now - DEAD_AFTER);
  if (open.some(({ since }) => since !== null && since < dead)) {
    // deleted, not just ignored, so that such a write can no longer commit if it is still running after all
    await rows.deleteMany({ since: { $lt: dead } }, { maxTimeMS: SWEEP_TIMEOUT });
    open = await rows.find(OPEN, READ_OPEN).toArray();
  }
  return { now, open };
}

async function inProgressInSet(data: OrganisationData): Promise<{ now: number; open: OpenWrite[] }> {
  const now = await databaseTime(data);
  return { now, open: await data.collection(openWrites).find(OPEN, READ_OPEN).toArray() };
}

/**
 * The same where mongos answers with its own clock: the time is the logical time of the shard's answer, in whole seconds. A row that the
 * answer does not have is stored later, so that its write gets a later time.
 */
function inProgressOnShard(data: OrganisationData): Promise<{ now: number; open: OpenWrite[] }> {
  return data.client.withSession(async (session) => {
    const options = { ...READ_OPEN, session, batchSize: MAX_OPEN };
    const open = await data.collection(openWrites).find(OPEN, options).toArray();
    return { now: logicalTime(session) || (await databaseTime(data)), open };
  });
}

/**
 * The primary's time, in milliseconds since 1970. Its operation time, in whole seconds, is agreed by all members and never
 * goes backwards.
 */
async function databaseTime(data: OrganisationData): Promise<number> {
  const admin = data.client.db('admin');
  const { localTime, operationTime } = (await admin.command({ hello: 1 })) as {
    localTime: Date;
    operationTime?: mongo.Timestamp;
  };
  return Math.max(localTime.getTime(), (operationTime?.t ?? 0) * 1000);
}
