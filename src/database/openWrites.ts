import { randomUUID } from 'node:crypto';
import type { ClientSession, mongo } from 'mongoose';
import { AppError } from '../errors';
import { defineCollection } from './collection';
import { nativeCollection } from './native';
import type { OrganisationData } from './organisationData';

/*
 * Which writes are under way, so that whoever keeps a copy by `updated_since` is shown nothing that one of them may still
 * be stamped before (docs/decisions/changes-since.md).
 */

interface OpenWrite {
  readonly _id: string;
  /** By the database's clock; the write's own stamp is no earlier. */
  readonly since: Date;
}

const date = { type: Date, required: true } as const;
export const openWrites = defineCollection<OpenWrite>(
  'open_writes',
  { _id: { type: String, required: true }, since: date },
  [],
);

/** A write this old died with its gateway, in milliseconds: MongoDB ends a transaction after 60 s. */
const DEAD_AFTER = 100_000;
/** How long the database may try to take such rows away, in milliseconds: one that lives may hold its row. */
const SWEEP_WITHIN = 5000;
/** Seconds after which a write that took too long may be sent again. */
const RETRY_AFTER = 1;

/** For reads that bear a copy: of the primary, and of what no election takes back. */
export const SETTLED_READ = { readConcern: { level: 'majority' }, readPreference: 'primary' } as const;

/**
 * Runs a write as one transaction; `now` is what it stamps its objects with. With `dryRun`, which must store nothing that
 * is stamped, readers are not told.
 * @throws AppError unavailable when it took so long that readers stopped waiting for it; nothing is stored then.
 */
export async function stampedWrite<T>(
  data: OrganisationData,
  work: (session: ClientSession, now: Date) => Promise<T>,
  { dryRun = false }: { readonly dryRun?: boolean } = {},
): Promise<T> {
  if (dryRun) return data.transaction((session) => work(session, new Date()));
  const rows = openRows(data);
  const { _id, since } = await begin(rows);
  try {
    return await data.transaction(async (session) => {
      // the row is stored, so a stamp made from here on is not before what a reader saw without it
      const asked = databaseTime(data);
      asked.catch(() => undefined);
      const { deletedCount } = await rows.deleteOne({ _id }, { session });
      if (deletedCount === 0)
        throw new AppError('unavailable', 'This write took too long; nothing was stored.', { retryAfter: RETRY_AFTER });
      return await work(session, new Date(Math.max(await asked, since.getTime())));
    });
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
 * The moment up to which every change is visible: whatever is written later, or still being written, will be stamped
 * with this moment or a later one.
 */
export async function settledUntil(data: OrganisationData): Promise<Date> {
  const rows = openRows(data);
  const now = await databaseTime(data);
  let open = await rows.find({}, SETTLED_READ).toArray();
  const dead = { since: { $lt: new Date(now - DEAD_AFTER) } };
  if (open.some(({ since }) => since < dead.since.$lt)) {
    // taken away and not only passed over: should such a write live after all, it can no longer be stored
    await rows.deleteMany(dead, { maxTimeMS: SWEEP_WITHIN });
    open = await rows.find({}, SETTLED_READ).toArray();
  }
  return new Date(open.reduce((earliest, { since }) => Math.min(earliest, since.getTime()), now));
}

/**
 * The primary's time, in milliseconds since 1970. Its operation time, in whole seconds, comes from all members' clocks and
 * never goes back.
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
