import { Schema } from 'mongoose';
import { defineCollection } from './collection';

/** The first answer to a write with an Idempotency-Key, stored in the organisation's database. */
export interface IdempotencyRecord {
  /** Key id and hashed Idempotency-Key, so that different API keys never collide. */
  readonly _id: string;
  /** SHA-256 of the operation and its arguments. */
  readonly fingerprint: string;
  readonly answer: unknown;
  readonly created_at: Date;
}

/** How long an answer is replayed, in seconds (contract, section 7). */
export const REPLAY_SECONDS = 24 * 60 * 60;

export const idempotencyRecords = defineCollection<IdempotencyRecord>(
  'idempotency_records',
  {
    _id: { type: String, required: true },
    fingerprint: { type: String, required: true },
    answer: Schema.Types.Mixed,
    created_at: { type: Date, required: true },
  },
  [{ on: { created_at: 1 }, options: { expireAfterSeconds: REPLAY_SECONDS } }],
);
