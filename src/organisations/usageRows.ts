import { Schema } from 'mongoose';
import { NUMBER, OPTIONAL_NUMBER, ROW, type RowOf, TEXT, TIME } from './schemas';

export type UsageRow = RowOf<typeof usageSchema>;
export type UsageCounts = Pick<UsageRow, 'requests' | 'errors' | 'rate_limited' | 'mcp'>;

const COUNTERS = { type: Map, of: Number, allowNull: false } as const;

export const usageSchema = Schema.create(
  {
    /** `<key id>:<hour|day>:<start>`, so that all instances add to the same row. */
    _id: TEXT,
    /** Id of the key; `org:<id>` for all keys of an organisation. */
    key_id: TEXT,
    unit: { ...TEXT, enum: ['hour', 'day'] },
    start: TIME,
    ends_at: TIME,
    requests: NUMBER,
    /** Requests that failed with an error other than 429. */
    errors: NUMBER,
    /** Requests that failed with 429. */
    rate_limited: NUMBER,
    /** Requests over MCP; missing in rows that are older than MCP. */
    mcp: OPTIONAL_NUMBER,
    /** Counters by operation and by error code (usageDetails.ts); missing in older rows. */
    operations: { type: Map, of: COUNTERS, allowNull: false },
    codes: COUNTERS,
  } as const,
  // mongoose warns of `errors`, which documents have themselves; these rows are read without
  { ...ROW, collection: 'key_usage', suppressReservedKeysWarning: true },
);
usageSchema.index({ ends_at: 1 }, { expireAfterSeconds: 0 });
usageSchema.index({ key_id: 1, unit: 1, start: 1 });
