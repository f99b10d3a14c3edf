import { Schema } from 'mongoose';
import { KEY_FACES } from './requestFilters';
import { REQUESTS_KEPT_FOR } from './requestLimits';
import { nullable, required, ROW, type RowOf } from './schemas';

/** Why a key with the right secret is rejected. */
export const KEY_REFUSALS = ['revoked', 'expired', 'address'] as const;

export const OPERATION_TYPES = ['query', 'mutation', 'subscription'] as const;

/** Longest path that is stored; the rest is cut off. */
export const LOGGED_PATH_LENGTH = 200;

/** A request with a key (docs/decisions/request-log.md). */
export type RequestRow = RowOf<typeof requestSchema>;

export const requestSchema = Schema.create(
  {
    /** UUID. */
    _id: required.text,
    organisation_id: required.text,
    key_id: required.text,
    /** When it ended. */
    at: required.time,
    /** Not unique, since callers may choose it. */
    request_id: required.text,
    face: { ...required.text, enum: KEY_FACES },
    method: required.text,
    /** Without the query, at most {@link LOGGED_PATH_LENGTH} characters. */
    path: required.text,
    /** The requested root fields, separated by spaces, cut at 200 characters; null if it failed before they were known. */
    operation: nullable.text,
    /** Of GraphQL its type, and the name that its caller gave it, at most 100 characters; both missing in older rows. */
    operation_type: { type: String, enum: OPERATION_TYPES },
    operation_name: { type: String },
    /** HTTP status; 499 if the caller disconnected before the answer. */
    status: required.number,
    /** The error code of the answer. */
    code: nullable.text,
    /** Null unless the key itself was rejected. */
    reason: nullable.oneOf(KEY_REFUSALS),
    /** The scope that the key lacked, or those of which it needed one, joined by ` or `; missing in older rows. */
    missing_scope: { type: String },
    /** Of bulk calls: how many elements they had, and how many of these failed; both missing in other and in older rows. */
    elements: { type: Number },
    elements_failed: { type: Number },
    ms: required.number,
    /** The caller's network address. */
    address: required.text,
    /** Whether it has an error code, a status of 400 or more other than 499, or elements that failed. */
    failed: required.flag,
  },
  { ...ROW, collection: 'request_log' },
);
requestSchema.index({ at: 1 }, { expireAfterSeconds: REQUESTS_KEPT_FOR / 1000 });
requestSchema.index({ organisation_id: 1, at: -1, _id: -1 });
requestSchema.index({ organisation_id: 1, failed: 1, at: -1, _id: -1 });
requestSchema.index({ organisation_id: 1, request_id: 1 });
