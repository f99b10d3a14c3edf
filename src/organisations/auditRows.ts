import { Schema } from 'mongoose';
import { AUDIT_ACTIONS } from './auditEvents';
import {
  anything,
  OPTIONAL_NUMBER,
  OPTIONAL_TEXT,
  OPTIONAL_TIME,
  PART,
  ROW,
  type RowOf,
  TEXT,
  TEXT_OR_NULL,
  TIME,
} from './schemas';

/** A member that is an Actor. */
export const ACTOR = {
  type: Schema.create({ who: TEXT, name: OPTIONAL_TEXT, from: TEXT }, PART),
  required: true,
} as const;

/** One entry in the audit log; immutable but for `times` and `last_at`. */
export type AuditEvent = RowOf<typeof auditSchema>;

export const auditSchema = Schema.create(
  {
    /** UUID. */
    _id: TEXT,
    /** When it first happened. */
    at: TIME,
    actor: ACTOR,
    action: { ...TEXT, enum: AUDIT_ACTIONS },
    organisation_id: TEXT,
    key_id: TEXT_OR_NULL,
    /** The values that were set, by name; never a key's text. */
    details: anything(),
    /** How often it happened, for an event that was repeated within the hour; once if it is missing. */
    times: OPTIONAL_NUMBER,
    /** When it last happened; at `at` if it is missing. */
    last_at: OPTIONAL_TIME,
  },
  { ...ROW, collection: 'audit_events' },
);
auditSchema.index({ at: -1, _id: -1 });
auditSchema.index({ organisation_id: 1, at: -1, _id: -1 });
// as the settings page filters them
auditSchema.index({ organisation_id: 1, key_id: 1, at: -1, _id: -1 });
auditSchema.index({ organisation_id: 1, action: 1, at: -1, _id: -1 });
