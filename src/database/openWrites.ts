import { randomUUID } from 'node:crypto';
import type { ClientSession, mongo } from 'mongoose';
import { AppError } from '../errors';
import { timeOf } from './clock';
import { defineCollection } from './collection';
import { nativeCollection } from './native';
import type { OrganisationData, UnitOptions } from './organisationData';

/*
 * Tracks writes in progress, so that a caller syncing with `updated_since` never sees a row newer than a write that is not
 * visible yet (docs/decisions/changes-since.md).
 */

interface OpenWrite {
  readonly _id: string;
  /** Start by the database's clock; the write's timestamp is never earlier. */
  readonly since: Date;
}

const date = { type: Date, required: true } as const;
export const openWrites = defineCollection<OpenWrite>(
  'open_writes',
  { _id: { type: String, required: true }, since: date },
  [],
);

/** A write this old (ms) was abandoned by its gateway, since MongoDB ends a transaction after 60 s. */
const DEAD_AFTER = 100_000;
/** Time limit for deleting such rows, in milliseconds, because a live write may hold a lock on its row. */
const SWEEP_WITHIN = 5000;
/** Retry-After, in seconds, for a write that took too long. */
const RETRY_AFTER = 1;

/** Read options for syncing: from the primary, and only data that cannot be rolled back. */
export const SETTLED_READ = { readConcern: { level: 'majority' }, readPreference: 'primary' } as const;

/**
 * Runs a write as one transaction; `now` is the timestamp for its objects. With `dryRun`, which must store no timestamps,
 * the write is not tracked.
 * @throws AppError unavailable if it took so long that readers stopped waiting for it; nothing is stored then.
 */
export async function stampedWrite<T>(
  data: OrganisationData,
  work: (session: ClientSession, now: Date) => Promise<T>,
  { writes, dryRun = false }: UnitOptions,
): Promise<T> {
  if (dryRun) return data.transaction((session) => work(session, new Date(timeOf(data.connection))), writes);
  // all together, before the row, which must not wait for them
  await data.prepare([...writes, openWrites]);
  const rows = openRows(data);
  const { _id, since } = await begin(rows);
  try {
    return await data.transaction(async (session) => {
      // the row is stored already, so a timestamp taken now is not before anything a reader saw without it
      const asked = databaseTime(data);
      asked.catch(() => undefined);
      const { deletedCount } = await rows.deleteOne({ _id }, { session });
      if (deletedCount === 0)
        throw new AppError('unavailable', 'This write took too long; nothing was stored.', { retryAfter: RETRY_AFTER });
      return await work(session, new Date(Math.max(await asked, since.getTime())));
    }, writes);
  } catch (error) {
    rows.deleteOne({ _id }, { maxTimeMS: SWEEP_WITHIN }).catch(() => undefined);
    throw error;
  }
}

async function begin(rows: mongo.Collection<OpenWrite>): Promise<OpenWrite> {
  const row = await rows.findOneAndUpdate(
    { _id: randomUUID() },
    { $currentDate: { since: true } },
    { upsert: true, returnDocument: 'after' },
  );
  if (!row) throw new Error('the row of an open write was not returned');
  return row;
}

/**
 * The time up to which all changes are visible: later writes, and those in progress, get this timestamp or a later one.
 */
export async function settledUntil(data: OrganisationData): Promise<Date> {
  const rows = openRows(data);
  const now = await databaseTime(data);
  let open = await rows.find({}, SETTLED_READ).toArray();
  const dead = { since: { $lt: new Date(now - DEAD_AFTER) } };
  if (open.some(({ since }) => since < dead.since.$lt)) {
    // deleted, not just ignored, so that such a write can no longer commit if it is still running after all
    await rows.deleteMany(dead, { maxTimeMS: SWEEP_WITHIN });
    open = await rows.find({}, SETTLED_READ).toArray();
  }
  return new Date(open.reduce((earliest, { since }) => Math.min(earliest, since.getTime()), now));
}

/**
 * The primary's time, in milliseconds since 1970. Its operation time, in whole seconds, is agreed by all members and never
 * goes backwards.
 */
async function databaseTime(data: OrganisationData): Promise<number> {
  const admin = data.connection.getClient().db('admin');
  const { localTime, operationTime } = (await admin.command({ hello: 1 })) as {
    localTime: Date;
    operationTime?: mongo.Timestamp;
  };
  return Math.max(localTime.getTime(), (operationTime?.t ?? 0) * 1000);
}

function openRows(data: OrganisationData): mongo.Collection<OpenWrite> {
  return nativeCollection(data.collection(openWrites));
}
