import { Schema } from 'mongoose';
import { DAY } from '../units';
import { KEY_FACES } from './requestFilters';
import { FLAG, NUMBER, oneOfOrNull, ROW, type RowOf, TEXT, TEXT_OR_NULL, TIME } from './schemas';

/** Why a key with the right secret is rejected. */
export const KEY_REFUSALS = ['revoked', 'expired', 'address'] as const;
export type KeyRefusal = (typeof KEY_REFUSALS)[number];

const KEPT = 7 * DAY;

/** A request with a key (docs/decisions/request-log.md). */
export type RequestRow = RowOf<typeof requestSchema>;

export const requestSchema = Schema.create(
  {
    /** UUID. */
    _id: TEXT,
    organisation_id: TEXT,
    key_id: TEXT,
    /** When it ended. */
    at: TIME,
    /** Not unique, since callers may choose it. */
    request_id: TEXT,
    face: { ...TEXT, enum: KEY_FACES },
    method: TEXT,
    /** Without the query, at most 200 characters. */
    path: TEXT,
    /** The requested root fields, separated by spaces; null if it failed before they were known. */
    operation: TEXT_OR_NULL,
    /** HTTP status; 499 if the caller disconnected before the answer. */
    status: NUMBER,
    code: TEXT_OR_NULL,
    reason: oneOfOrNull(KEY_REFUSALS),
    /** The scope that the key lacked, or several of which any one was needed; missing in older rows. */
    missing_scope: { type: String },
    ms: NUMBER,
    address: TEXT,
    /** Whether it has an error code or a status of 400 or more. */
    failed: FLAG,
  },
  { ...ROW, collection: 'request_log' },
);
requestSchema.index({ at: 1 }, { expireAfterSeconds: KEPT / 1000 });
requestSchema.index({ organisation_id: 1, at: -1, _id: -1 });
requestSchema.index({ organisation_id: 1, failed: 1, at: -1, _id: -1 });
requestSchema.index({ organisation_id: 1, request_id: 1 });
