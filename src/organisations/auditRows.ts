import { Schema } from 'mongoose';
import { AUDIT_ACTIONS } from './auditEvents';
import { ANYTHING, nullable, optional, PART, required, ROW, type RowOf } from './schemas';

/** A member that is an Actor. */
export const ACTOR = {
  type: Schema.create({ who: required.text, name: optional.text, from: required.text }, PART),
  required: true,
} as const;

export const AUDIT_EVENTS = 'audit_events';

/** One entry in the audit log; immutable but for `times` and `last_at`. */
export type AuditEvent = RowOf<typeof auditSchema>;

export const auditSchema = Schema.create(
  {
    /** UUID. */
    _id: required.text,
    /** When it first happened. */
    at: required.time,
    actor: ACTOR,
    action: { ...required.text, enum: AUDIT_ACTIONS },
    organisation_id: required.text,
    /** Null unless it is about one key. */
    key_id: nullable.text,
    /** The values that were set, by name; never a key's text. */
    details: ANYTHING,
    /** How often it happened within the hour, from 1, for a user's or operator's event. Missing for all others: each time is a row. */
    times: optional.number,
    /** When it last happened; at `at` if it is missing. */
    last_at: optional.time,
  },
  { ...ROW, collection: AUDIT_EVENTS },
);
auditSchema.index({ at: -1, _id: -1 });
auditSchema.index({ organisation_id: 1, at: -1, _id: -1 });
// as the settings page filters them
auditSchema.index({ organisation_id: 1, key_id: 1, at: -1, _id: -1 });
auditSchema.index({ organisation_id: 1, action: 1, at: -1, _id: -1 });
auditSchema.index({ organisation_id: 1, 'actor.who': 1, at: -1, _id: -1 });
