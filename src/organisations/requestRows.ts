import { definedByType } from '../database/collection';
import { DAY } from '../units';
import type { KeyFace } from './requestFilters';

/** Why a key with the right secret is rejected. */
export const KEY_REFUSALS = ['revoked', 'expired', 'address'] as const;
export type KeyRefusal = (typeof KEY_REFUSALS)[number];

/** A request with a key (docs/decisions/request-log.md). */
export interface RequestRow {
  /** UUID. */
  readonly _id: string;
  readonly organisation_id: string;
  readonly key_id: string;
  /** When it ended. */
  readonly at: Date;
  /** Not unique, since callers may choose it. */
  readonly request_id: string;
  readonly face: KeyFace;
  readonly method: string;
  /** Without the query, at most 200 characters. */
  readonly path: string;
  /** The requested root fields, separated by spaces; null if it failed before they were known. */
  readonly operation: string | null;
  /** HTTP status; 499 if the caller disconnected before the answer. */
  readonly status: number;
  readonly code: string | null;
  readonly reason: KeyRefusal | null;
  /** The scope that the key lacked, or several of which any one was needed; undefined in older rows. */
  readonly missing_scope?: string | null;
  readonly ms: number;
  readonly address: string;
  /** Whether it has an error code or a status of 400 or more. */
  readonly failed: boolean;
}

const KEPT = 7 * DAY;

export const requestRows = definedByType<RequestRow>(
  'request_log',
  [
    { on: { at: 1 }, options: { expireAfterSeconds: KEPT / 1000 } },
    { on: { organisation_id: 1, at: -1, _id: -1 } },
    { on: { organisation_id: 1, failed: 1, at: -1, _id: -1 } },
    { on: { organisation_id: 1, request_id: 1 } },
  ],
  ['at'],
);
