import { Schema } from 'mongoose';
import { MCP_ACCESS } from '../auth/principal';
import type { Scope } from '../auth/scopes';
import { DAY } from '../units';
import { connectedApp } from './appRows';
import { COPIED_TO_KEYS, STATE } from './organisationRows';
import { listOf, nullable, optional, PART, required, ROW } from './schemas';

/** How long a key is kept after its end, in milliseconds. */
const ENDED_KEYS_KEPT = 90 * DAY;
const EXPIRES = { expireAfterSeconds: ENDED_KEYS_KEPT / 1000 } as const;

const organisation = Schema.create(
  { id: required.text, ...COPIED_TO_KEYS, state: { ...STATE, required: true }, moving: optional.flag } as const,
  PART,
);

/** Of a key for some customers' data: these, and its ranges, in whose place earlier versions find NOWHERE (src/auth/keys.ts). */
const restricted = Schema.create({ customer_ids: listOf<string>(), allowed_ranges: listOf<string>() } as const, PART);

/** Its rows are read as ApiKey (src/auth/keys.ts). */
export const keySchema = Schema.create(
  {
    _id: required.text,
    organisation: { type: organisation, required: true },
    name: required.text,
    /** The start of its text that lists show: the configured prefix and some characters of its id. */
    prefix: required.text,
    last_four: required.text,
    salt: required.text,
    hash: required.text,
    /** The number of the pepper that it is hashed with (pepper.ts); missing for the first. */
    pepper: optional.number,
    // not an enum: a rotation copies scopes that the schema of another folder has
    scopes: listOf<Scope>(),
    created_by: required.text,
    created_at: required.time,
    /** Null for never. */
    expires_at: nullable.time,
    revoked_at: nullable.time,
    /** Null until it is used; written at most once a minute. */
    last_used_at: nullable.time,
    last_used_from: nullable.text,
    allowed_ranges: listOf<string>(),
    restricted: { type: restricted, allowNull: false },
    /** Id of the key that replaced it; null if none did. */
    rotated_to: nullable.text,
    /** DEFAULT_MCP if it is missing. */
    mcp: { ...optional.text, enum: MCP_ACCESS },
    /** Only in the key of a connected app. */
    app: { type: connectedApp, allowNull: false },
  } as const,
  { ...ROW, collection: 'api_keys' },
);
keySchema.index({ 'organisation.id': 1, created_at: 1 });
// active ones; revoked or expired ones by their end
keySchema.index({ 'organisation.id': 1, revoked_at: 1, expires_at: 1 });
// an index with expiry has one member; null never expires
keySchema.index({ revoked_at: 1 }, EXPIRES);
keySchema.index({ expires_at: 1 }, EXPIRES);
