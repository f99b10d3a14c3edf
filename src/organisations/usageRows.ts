import { Schema } from 'mongoose';
import { optional, required, ROW, type RowOf } from './schemas';

export type UsageRow = RowOf<typeof usageSchema>;

export const USAGE_COUNTS = ['requests', 'errors', 'rate_limited', 'mcp'] as const;
type CountName = (typeof USAGE_COUNTS)[number];
export type UsageCounts = Pick<UsageRow, CountName>;

/** A value for each count of a row. */
export const eachCount = <T>(valueOf: (name: CountName) => T): Record<CountName, T> =>
  Object.fromEntries(USAGE_COUNTS.map((name) => [name, valueOf(name)])) as Record<CountName, T>;

/** The lengths of time that rows count; each begins at a multiple of its length in UTC. */
export const USAGE_UNITS = ['five_minutes', 'hour', 'day'] as const;
export type UsageUnit = (typeof USAGE_UNITS)[number];

const COUNTERS = { type: Map, of: Number, allowNull: false } as const;

export const usageSchema = Schema.create(
  {
    /** `<key id>:<unit>:<start>`, so that all instances add to the same row. */
    _id: required.text,
    /** Id of the key; `org:<id>` for all keys of an organisation. */
    key_id: required.text,
    unit: { ...required.text, enum: USAGE_UNITS },
    start: required.time,
    /** When the row is deleted, long after the time that it counts (usageUnits.ts). */
    ends_at: required.time,
    requests: required.number,
    /** Requests that failed with an error other than 429. */
    errors: required.number,
    /** Requests that failed with 429. */
    rate_limited: required.number,
    /** Requests over MCP, which `requests` has, too; missing in rows that are older than MCP. */
    mcp: optional.number,
    /** Counters by operation and by error code (usageDetails.ts); missing in older rows. */
    operations: { type: Map, of: COUNTERS, allowNull: false },
    codes: COUNTERS,
  } as const,
  // mongoose warns of `errors`, which its own documents have; these rows are read as plain objects
  { ...ROW, collection: 'key_usage', suppressReservedKeysWarning: true },
);
usageSchema.index({ ends_at: 1 }, { expireAfterSeconds: 0 });
usageSchema.index({ key_id: 1, unit: 1, start: 1 });
