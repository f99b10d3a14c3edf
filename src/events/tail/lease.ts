import type { mongo } from 'mongoose';
import type { Token } from '../../database/changeCursor';
import { isDuplicateKey } from '../../database/faults';
import { SETTLED_READ } from '../../database/slots';
import { TAILS } from './changes';

/** Which gateway tails the database, and how far it has got: one row. */
export interface TailRow {
  readonly _id: 'tail';
  readonly holder: string;
  readonly generation: number;
  readonly until: Date;
  /** Where to resume reading the log. */
  readonly token?: Token;
  /** All events of changes up to this time are stored. */
  readonly at?: mongo.Timestamp;
  readonly fault?: string;
}

export type Progress = Pick<TailRow, 'token' | 'at'>;

const LASTS = 10_000;

const ONE = { _id: 'tail' } as const;

/** The row of the tail; `control` is the name of the control database. */
export function tailRows(client: mongo.MongoClient, control: string): mongo.Collection<TailRow> {
  return client.db(control).collection<TailRow>(TAILS);
}

/** The row as it is stored for good; null if no gateway has tailed the database yet. */
export function readTail(rows: mongo.Collection<TailRow>): Promise<TailRow | null> {
  return rows.findOne(ONE, SETTLED_READ);
}

/** `now` is the database's time, in milliseconds since 1970. The row is never written in a transaction: if its gateway were killed, that would keep the row locked. */
export function leaseOf(rows: mongo.Collection<TailRow>, holder: string, now: () => number) {
  let generation = 0;
  const ours = () => ({ ...ONE, holder, generation });
  const until = (): Date => new Date(now() + LASTS);

  return {
    /** Takes the lease if it is free. Resolves with undefined if another gateway has it. */
    async take(): Promise<TailRow | undefined> {
      const free = { ...ONE, until: { $lte: new Date(now()) } };
      const change = { $set: { holder, until: until() }, $inc: { generation: 1 } } as const;
      let taken = await rows.findOneAndUpdate(free, change, { returnDocument: 'after' });
      if (!taken && !(await rows.findOne(ONE, { projection: { _id: 1 } }))) {
        const first: TailRow = { ...ONE, holder, generation: 1, until: until() };
        try {
          await rows.insertOne(first);
          taken = first;
        } catch (error) {
          if (!isDuplicateKey(error)) throw error;
        }
      }
      generation = taken?.generation ?? 0;
      return taken ?? undefined;
    },
    /** Keeps the lease, and stores how far the tail has got. Resolves with false if another gateway has taken the lease. */
    async renew(progress: Progress): Promise<boolean> {
      const set = { until: until(), ...progress };
      return (await rows.updateOne(ours(), { $set: set, $unset: { fault: '' } })).matchedCount === 1;
    },
    /** Notes why the log cannot be read; the next renewal removes the note. */
    async fail(fault: string): Promise<void> {
      await rows.updateOne(ours(), { $set: { fault, until: until() } });
    },
    /** Lets another gateway take the lease at once. */
    async release(progress: Progress): Promise<void> {
      await rows.updateOne(ours(), { $set: { ...progress, until: new Date(0) } });
    },
  };
}

export type Lease = ReturnType<typeof leaseOf>;
