import { Schema } from 'mongoose';
import { ACTOR } from './auditRows';
import { OPTIONAL_NUMBER, OPTIONAL_TIME, ROW, type RowOf, TEXT, TEXT_OR_NULL, TIME, TIME_OR_NULL } from './schemas';

export type JobRow = RowOf<typeof jobSchema>;

export const jobSchema = Schema.create(
  {
    /** UUID. */
    _id: TEXT,
    kind: { ...TEXT, enum: ['erasure', 'move'] },
    organisation_id: TEXT,
    /** The shard to move to; null for an erasure. */
    to: TEXT_OR_NULL,
    actor: ACTOR,
    state: { ...TEXT, enum: ['waiting', 'running', 'done', 'failed'] },
    step: TEXT_OR_NULL,
    error: TEXT_OR_NULL,
    created_at: TIME,
    ended_at: TIME_OR_NULL,
    /** Lease id of the gateway that works on it, and when that lease ends. */
    holder: TEXT_OR_NULL,
    until: TIME,
    /** When the row is deleted. */
    ends_at: OPTIONAL_TIME,
    /** Which gateways of the version before show. */
    progress: OPTIONAL_NUMBER,
  } as const,
  { ...ROW, collection: 'jobs' },
);
// jobs that have not ended; an organisation has at most one (jobs.ts)
jobSchema.index({ ended_at: 1, created_at: 1 });
jobSchema.index({ ends_at: 1 }, { expireAfterSeconds: 0 });
