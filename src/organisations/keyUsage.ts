import { type Connection, type Model, Schema, trusted } from 'mongoose';
import { nativeCollection } from '../database/native';

/** Counts of a key's requests by outcome. */
export interface UsageCounts {
  readonly requests: number;
  /** Requests that failed with an error other than 429. */
  readonly errors: number;
  /** Requests that failed with 429. */
  readonly rate_limited: number;
}

/** One hour or day, by its start in UTC. */
export interface UsageBucket extends UsageCounts {
  readonly start: Date;
}

export type UsagePeriod = 'last_24h' | 'last_30d';

/** Counts of one key in one hour. */
export interface UsageEntry extends UsageCounts {
  readonly keyId: string;
  readonly hour: Date;
}

export interface KeyUsage {
  /** Adds counts to their hours and days. */
  add(entries: readonly UsageEntry[]): Promise<void>;
  /** Every hour or day of a period up to now, oldest first, including those without requests. */
  read(keyId: string, period: UsagePeriod, now?: Date): Promise<UsageBucket[]>;
}

interface UsageDocument extends UsageBucket {
  /** `<key id>:<hour|day>:<start>`, so that all instances add to the same row. */
  readonly _id: string;
  readonly key_id: string;
  readonly unit: Unit;
  readonly ends_at: Date;
}

type Unit = 'hour' | 'day';

const HOUR = 3_600_000;
const LENGTHS: Readonly<Record<Unit, number>> = { hour: HOUR, day: 24 * HOUR };
/** How long a row is kept after its start: slightly longer than the period it is shown for. */
const KEPT: Readonly<Record<Unit, number>> = { hour: 48 * HOUR, day: 32 * 24 * HOUR };
const PERIODS = {
  last_24h: { unit: 'hour', buckets: 24 },
  last_30d: { unit: 'day', buckets: 30 },
} as const satisfies Record<UsagePeriod, { unit: Unit; buckets: number }>;

/** Rows per command; each key and hour makes two. */
const BATCH = 1000;

const date = { type: Date, required: true } as const;
const count = { type: Number, default: 0 } as const;
const usageSchema = new Schema(
  {
    _id: { type: String, required: true },
    key_id: { type: String, required: true },
    unit: { type: String, required: true },
    start: date,
    ...{ requests: count, errors: count, rate_limited: count },
    ends_at: date,
  },
  // `errors` is reserved on mongoose documents, which lean reads do not create
  { versionKey: false, suppressReservedKeysWarning: true },
)
  .index({ ends_at: 1 }, { expireAfterSeconds: 0 })
  .index({ key_id: 1, unit: 1, start: 1 });

/** Opens the usage rows in the control database, and creates missing indexes. */
export async function openKeyUsage(control: Connection): Promise<KeyUsage> {
  const model = control.model('key_usage', usageSchema, 'key_usage') as unknown as Model<UsageDocument>;
  await model.createIndexes();
  const native = nativeCollection(model);
  return {
    async add(entries) {
      const writes = entries.flatMap((entry) => [increment(entry, 'hour'), increment(entry, 'day')]);
      for (let at = 0; at < writes.length; at += BATCH) {
        await native.bulkWrite(writes.slice(at, at + BATCH), { ordered: false });
      }
    },
    async read(keyId, period, now = new Date()) {
      const { unit, buckets } = PERIODS[period];
      const last = startOf(now, unit).getTime();
      const starts = Array.from({ length: buckets }, (_, at) => last - (buckets - 1 - at) * LENGTHS[unit]);
      const since = trusted({ $gte: new Date(starts[0] ?? last) });
      const rows = await model.find({ key_id: keyId, unit, start: since }).lean<UsageDocument[]>();
      const byStart = new Map(rows.map((row) => [row.start.getTime(), row]));
      return starts.map((start) => {
        const { requests = 0, errors = 0, rate_limited = 0 } = byStart.get(start) ?? {};
        return { start: new Date(start), requests, errors, rate_limited };
      });
    },
  };
}

function increment({ keyId, hour, requests, errors, rate_limited }: UsageEntry, unit: Unit) {
  const start = startOf(hour, unit);
  return {
    updateOne: {
      filter: { _id: `${keyId}:${unit}:${start.toISOString()}` },
      update: {
        $inc: { requests, errors, rate_limited },
        $setOnInsert: { key_id: keyId, unit, start, ends_at: new Date(start.getTime() + KEPT[unit]) },
      },
      upsert: true,
    },
  };
}

/** Start of the hour or day, in UTC. */
function startOf(moment: Date, unit: Unit): Date {
  return new Date(Math.floor(moment.getTime() / LENGTHS[unit]) * LENGTHS[unit]);
}
