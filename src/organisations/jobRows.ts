import { Schema } from 'mongoose';
import { ACTOR } from './auditRows';
import { nullable, optional, required, ROW, type RowOf } from './schemas';

export type JobRow = RowOf<typeof jobSchema>;

export const JOB_KINDS = ['erasure', 'move'] as const;

export const jobSchema = Schema.create(
  {
    /** UUID. */
    _id: required.text,
    kind: { ...required.text, enum: JOB_KINDS },
    organisation_id: required.text,
    /** The shard to move to; null for an erasure. */
    to: nullable.text,
    actor: ACTOR,
    state: { ...required.text, enum: ['waiting', 'running', 'done', 'failed'] },
    /** What is being done, while it is running; null before that. */
    step: nullable.text,
    /** Why it, or its last attempt, failed; null if that did not. */
    error: nullable.text,
    created_at: required.time,
    /** When it was done, or failed for good; null until then. */
    ended_at: nullable.time,
    /** Lease id of the gateway that works on it. */
    holder: nullable.text,
    /** When that lease ends; without a holder, before when nobody takes it. */
    until: required.time,
    /** When the row is deleted, some time after `ended_at`; missing until then. */
    ends_at: optional.time,
  } as const,
  { ...ROW, collection: 'jobs' },
);
// jobs that have not ended; an organisation has at most one (jobs.ts)
jobSchema.index({ ended_at: 1, created_at: 1 });
jobSchema.index({ ends_at: 1 }, { expireAfterSeconds: 0 });
