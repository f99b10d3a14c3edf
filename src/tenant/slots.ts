import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import { DAY } from '../units';
import { defineCollection } from '../mongo/collection';
import { isWriteConflict } from '../mongo/faults';

/*
 * Slots: rows in `open_writes`, of which each write takes one and updates it in its transaction (docs/decisions/organisation-life.md,
 * docs/decisions/changes-since.md). Readers see by them which writes are in progress, and deleting them fences these off. Taking a slot never inserts a
 * row, so a write cannot recreate a dropped database.
 */

/**
 * Who writes: `key:<id>`, `user:<id>`, `operator:<token>`, `operator` for the command line, or `other` for what a gateway fills in for another
 * program.
 */
export type Writer = `key:${string}` | `user:${string}` | `operator:${string}` | 'operator' | 'other';

export interface OpenWrite {
  readonly _id: string;
  /** When its write started, by the database's clock; the write's timestamp is never earlier. Null while free. */
  readonly since: Date | null;
  /** When it was last taken or stamped, by the database's clock. */
  readonly used?: Date;
  /** Who wrote last. Missing during a write, so that the log has it of each (docs/decisions/origin.md). */
  readonly by?: Writer;
}

export const openWrites = { ...defineCollection<OpenWrite>('open_writes', []), restriction: 'unrestricted' } as const;

/** Options of reads that callers sync by: only data that cannot be rolled back. */
export const SETTLED_READ = { readConcern: { level: 'majority' } } as const;

/** Rows of writes in progress. */
export const OPEN = { since: { $ne: null } } as const;

/** Free slots that a gateway keeps for an organisation; a burst of writes may create more. */
const MAX_FREE = 20;
/** A free row unused for this long (ms) is deleted: its gateway is gone, or finds that the row is missing and makes another. */
const IDLE_FOR = DAY;
/** Time limit for freeing a row, in milliseconds, because a live write may hold a lock on it. */
export const SWEEP_TIMEOUT = 5000;

/** How long to wait for writes in flight, in milliseconds: longer than the 60 s after which MongoDB ends a transaction. */
export const END_TIMEOUT = 120_000;
/** How often `fence` tries again to delete rows of writes in flight, in milliseconds. */
const FENCE_EVERY = 10;

type TakenSlot = OpenWrite & { readonly since: Date };

export type Slots = ReturnType<typeof createSlots>;

interface SlotsOptions {
  readonly client: mongo.MongoClient;
  /** Runs work that may create the organisation's database. @see OrganisationData.whileWritable */
  readonly whileWritable: (work: () => Promise<unknown>) => Promise<unknown>;
  /** The database's time, in milliseconds since 1970. */
  readonly now: () => number;
}

export function createSlots(rows: mongo.Collection<OpenWrite>, { client, whileWritable, now }: SlotsOptions) {
  /** Ids of rows that this gateway may take. */
  const free: string[] = [];

  /** Inserts a free row, and deletes those that are idle. */
  async function insertFree(): Promise<string> {
    const _id = randomUUID();
    const row = { $set: { since: null }, $currentDate: { used: true } } as const;
    await whileWritable(() => rows.updateOne({ _id }, row, { upsert: true }));
    await rows.deleteMany({ since: null, used: { $lt: new Date(now() - IDLE_FOR) } });
    return _id;
  }

  /**
   * Deletes a row, and resolves with false if a write in flight has updated it. In a transaction, which then fails at once: outside one, the server
   * would wait for that write.
   */
  function remove(_id: string): Promise<boolean> {
    return client.withSession(async (session) => {
      session.startTransaction({ writeConcern: { w: 'majority', journal: true } });
      try {
        await rows.deleteOne({ _id }, { session });
        await session.commitTransaction();
        return true;
      } catch (error) {
        await session.abortTransaction().catch(() => undefined);
        if (isWriteConflict(error)) return false;
        throw error;
      }
    });
  }

  return {
    /** Takes a free row. @throws as `whileWritable`, if none is free and the organisation must not be written to */
    async begin(): Promise<TakenSlot> {
      for (;;) {
        const _id = free.pop() ?? (await insertFree());
        const begun = { $currentDate: { since: true, used: true }, $unset: { by: '' } } as const;
        const row = await rows.findOneAndUpdate({ _id }, begun, { returnDocument: 'after' });
        // the row may have been deleted meanwhile, as all rows are when the organisation is erased
        if (row?.since) return { ...row, since: row.since };
      }
    },
    /**
     * Notes in the transaction of a write that it ends, as the first thing that it writes. Resolves with the server's time, the stamp of
     * its objects, which is no earlier than anything that a reader saw before the row was there; undefined if the row is gone, and the write
     * must then store nothing.
     */
    async stamp({ _id, since }: TakenSlot, by: Writer, session: mongo.ClientSession): Promise<Date | undefined> {
      const ended = { $set: { since: null, by }, $currentDate: { used: true } } as const;
      const options = { session, returnDocument: 'after', projection: { used: 1 } } as const;
      const { used } = (await rows.findOneAndUpdate({ _id, since }, ended, options)) ?? {};
      return used && new Date(Math.max(used.getTime(), since.getTime(), logicalTime(session)));
    },
    /** Makes the slot of a write that was committed free again. */
    release({ _id }: TakenSlot): void {
      if (free.length < MAX_FREE) free.push(_id);
      else rows.deleteOne({ _id, since: null }).catch(() => undefined);
    },
    /** Makes the slot of a write that failed free again, without delaying its answer; if that fails, readers wait until it counts as abandoned. */
    abort(slot: TakenSlot): void {
      const { _id, since } = slot;
      rows
        .updateOne({ _id, since }, { $set: { since: null } }, { maxTimeMS: SWEEP_TIMEOUT })
        .then(({ matchedCount }) => {
          if (matchedCount === 1) this.release(slot);
        })
        .catch(() => undefined);
    },
    /**
     * Deletes all rows: writes that have already updated their row end first; all others store nothing.
     * @throws Error if one of them does not end within {@link END_TIMEOUT}
     */
    fence: async (): Promise<void> => {
      const until = performance.now() + END_TIMEOUT;
      for (;;) {
        const remaining = await rows.find({}, { ...SETTLED_READ, projection: { _id: 1 } }).toArray();
        if (remaining.length === 0) return;
        if (performance.now() > until) throw endlessWrite();
        let removed = 0;
        for (const { _id } of remaining) if (await remove(_id)) removed += 1;
        if (removed < remaining.length) await sleep(FENCE_EVERY);
      }
    },
  };
}

/** The logical time of the last answer in a session, in milliseconds since 1970, in whole seconds. It never goes backwards. */
export function logicalTime({ operationTime }: mongo.ClientSession): number {
  return (operationTime?.t ?? 0) * 1000;
}

export const endlessWrite = (): Error => new Error('a write in progress does not end');
