import type { mongo } from 'mongoose';
import type { Token } from '../../mongo/changeCursor';
import { type LeaseRow, createLeases } from '../../mongo/lease';
import type { Databases } from '../../tenant/databases';
import { SETTLED_READ } from '../../tenant/slots';
import { MINUTE, SECOND } from '../../units';
import { TAILS } from './changes';

/** Which gateway tails the database (reads its log and stores the changes as events), and how far it has got: one row. */
export interface TailRow extends LeaseRow {
  readonly _id: 'tail';
  /** Incremented each time that the lease is taken. */
  readonly generation: number;
  /** Where to resume reading the log. */
  readonly token?: Token;
  /** All events of changes up to this time are stored. */
  readonly at?: mongo.Timestamp;
  /** Why the log cannot be read. */
  readonly fault?: string;
  /** The last restore of the database that anybody noticed; missing before the first. */
  readonly restored?: Restored;
}

/** A restore of the database from a backup (docs/decisions/restore.md). */
export interface Restored {
  /** The time whose state the database has again. */
  readonly since: Date;
  /** When it was noticed or declared, by the database's clock. */
  readonly at: Date;
  /** {@link GATEWAY}, or who ran the command. */
  readonly by: string;
  /** Whether every organisation has its gap event. */
  readonly told: boolean;
}

/** Who noticed a restore, if nobody declared it. */
export const GATEWAY = 'gateway';

export type Progress = Pick<TailRow, 'token' | 'at'>;

/** How long a lease lasts, in milliseconds: five renewals (tail.ts), so that a slow one loses nothing, and a gateway that dies is soon replaced. */
const LEASED_FOR = 10_000;

/** How long after the last event was recorded, and the lease ended, recording counts as switched off, in milliseconds. */
const OFF_AFTER = MINUTE;

const TAIL = { _id: 'tail' } as const;
const NEW_ROW = { holder: null, generation: 0, until: new Date(0) };

/** The row of the tail; `control` is the name of the control database. */
export function tailRows(client: mongo.MongoClient, control: string): mongo.Collection<TailRow> {
  return client.db(control).collection<TailRow>(TAILS);
}

/** The row as it is stored for good; null if no gateway has tailed the database yet. */
export async function readTail({ streams, control }: Pick<Databases, 'streams' | 'control'>): Promise<TailRow | null> {
  return readRow(tailRows(await streams(), control.name));
}

/** The row, and a time of the database after everything that it says is stored; undefined if the server does not say. */
export async function readTailWithTime({ streams, control }: Pick<Databases, 'streams' | 'control'>) {
  const client = await streams();
  return client.withSession(async (session) => {
    const row = await readRow(tailRows(client, control.name), { session });
    return { row, time: session.operationTime };
  });
}

const readRow = (rows: mongo.Collection<TailRow>, more: mongo.FindOptions = {}): Promise<TailRow | null> =>
  rows.findOne(TAIL, { ...SETTLED_READ, ...more });

/** Whether nobody records: a gateway that starts, stops or is slow leaves the lease free for seconds. `now` is the database's time. */
export function isRecordingOff({ fault, until, at }: TailRow, now: number): boolean {
  const last = Math.max(until.getTime(), at ? at.t * SECOND : 0);
  return fault !== undefined || last < now - OFF_AFTER;
}

/** Declares that the database was restored to its state of a time. Resolves with the former declaration if it is of the same time, of which then only `by` changes. */
export async function declareRestored(
  rows: mongo.Collection<TailRow>,
  restored: Restored,
): Promise<Restored | undefined> {
  const before = (await readRow(rows))?.restored;
  if (before?.since.getTime() === restored.since.getTime()) {
    // also in place of another person: doctor's warning ends once anybody has seen what a gateway noticed
    await rows.updateOne({ ...TAIL, 'restored.at': before.at }, { $set: { 'restored.by': restored.by } });
    return before;
  }
  await rows.updateOne(TAIL, { $set: { restored }, $setOnInsert: NEW_ROW }, { upsert: true });
  return undefined;
}

/**
 * Takes the lease if it is free; undefined if another gateway has it. `onTaken` gets the row of one that had it before, whose restore is worth knowing,
 * and none if another takes it just now: the next attempt sees that one. `now` is the database's time, in milliseconds
 * since 1970. The row is never written in a transaction: if its gateway were killed, that would keep the row locked.
 */
export async function takeTailLease(
  rows: mongo.Collection<TailRow>,
  now: () => number,
  onTaken: (row: TailRow) => void = () => undefined,
) {
  const leases = createLeases(rows, LEASED_FOR, now);
  const before = await readRow(rows);
  if (before && before.until.getTime() > now()) {
    onTaken(before);
    return undefined;
  }
  if (!before) await rows.updateOne(TAIL, { $setOnInsert: NEW_ROW }, { upsert: true });
  const row = await leases.take(TAIL, { $inc: { generation: 1 } });
  if (!row) return undefined;
  const { _id, holder, generation } = row;
  let { at: stored } = row;
  // a row that was restored from a backup may have this very lease, but not this progress
  const ours = () => ({ _id, holder, generation, ...(stored && { at: { $gte: stored } }) });

  return {
    /** The row as it was taken. */
    row: row as TailRow,
    /** Keeps the lease, and stores how far the tail has got. One at a time: a renewal that ends late would set `at` back, and the next lose the lease. Resolves with the row; undefined if another gateway has taken the lease, or the database was restored. */
    async renew(progress: Pick<TailRow, keyof Progress | 'restored'>): Promise<TailRow | undefined> {
      const renewed = await leases.renew(ours(), { $set: progress, $unset: { fault: '' } });
      if (renewed) stored = renewed.at;
      return renewed;
    },
    /** Notes why the log cannot be read; the next renewal removes the note. */
    fail: (fault: string): Promise<unknown> => leases.renew(ours(), { $set: { fault } }),
    /** Notes that every organisation knows of a restore. */
    settle: ({ at }: Restored): Promise<unknown> =>
      rows.updateOne({ ...TAIL, 'restored.at': at }, { $set: { 'restored.told': true } }),
    /** Lets another gateway take the lease at once. */
    release: (progress: Progress): Promise<boolean> => leases.release(ours(), { $set: progress }),
  };
}

export type TailLease = NonNullable<Awaited<ReturnType<typeof takeTailLease>>>;
