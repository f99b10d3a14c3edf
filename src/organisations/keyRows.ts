import { Schema } from 'mongoose';
import { MCP_ACCESS } from '../auth/principal';
import type { Scope } from '../auth/scopes';
import { DAY } from '../units';
import { COPIED, STATE } from './organisationRows';
import {
  listOf,
  OPTIONAL_FLAG,
  OPTIONAL_NUMBER,
  OPTIONAL_TEXT,
  PART,
  ROW,
  TEXT,
  TEXT_OR_NULL,
  TIME,
  TIME_OR_NULL,
} from './schemas';

/** How long a key is kept after its end, in milliseconds. */
const ENDED_KEYS_KEPT = 90 * DAY;
const EXPIRES = { expireAfterSeconds: ENDED_KEYS_KEPT / 1000 } as const;

const organisation = Schema.create(
  { id: TEXT, ...COPIED, state: { ...STATE, required: true }, moving: OPTIONAL_FLAG } as const,
  PART,
);

/** ApiKey (src/auth/keys.ts) is what authentication reads of a row, which is all of it. */
export const keySchema = Schema.create(
  {
    _id: TEXT,
    organisation: { type: organisation, required: true },
    name: TEXT,
    prefix: TEXT,
    last_four: TEXT,
    salt: TEXT,
    hash: TEXT,
    pepper: OPTIONAL_NUMBER,
    // not an enum: a rotation copies scopes that the schema of another folder has
    scopes: listOf<Scope>(),
    created_by: TEXT,
    created_at: TIME,
    expires_at: TIME_OR_NULL,
    revoked_at: TIME_OR_NULL,
    last_used_at: TIME_OR_NULL,
    last_used_from: TEXT_OR_NULL,
    allowed_ranges: listOf<string>(),
    rotated_to: TEXT_OR_NULL,
    mcp: { ...OPTIONAL_TEXT, enum: MCP_ACCESS },
  } as const,
  { ...ROW, collection: 'api_keys' },
);
keySchema.index({ 'organisation.id': 1, created_at: 1 });
// active ones; revoked or expired ones by their end
keySchema.index({ 'organisation.id': 1, revoked_at: 1, expires_at: 1 });
// an index with expiry has one member; null never expires
keySchema.index({ revoked_at: 1 }, EXPIRES);
keySchema.index({ expires_at: 1 }, EXPIRES);
