import { Schema } from 'mongoose';
import { ALL_ROLES } from '../auth/roles';
import { optional, PART, required, ROW, type RowOf } from './schemas';

/** Who signs in, and to which organisation. */
const SIGN_IN = {
  organisation_id: required.text,
  user: { type: Schema.create({ id: required.text, name: required.text, email: optional.text }, PART), required: true },
  role: { ...required.text, enum: ALL_ROLES },
} as const;

/** Where the settings lead back to (docs/decisions/brand.md). */
const return_to = optional.text;

/** SHA-256 of a token, base64url, so that reading the database does not allow signing in. */
const DIGEST = required.text;

/** What makes a link an invitation: its id, which unlike the digest may be shown, and the name of who invited. */
const invitation = Schema.create({ id: required.text, created_by: required.text }, PART);

export type LinkRow = RowOf<typeof linkSchema>;

export const linkSchema = Schema.create(
  {
    _id: DIGEST,
    ...SIGN_IN,
    created_at: required.time,
    ends_at: required.time,
    return_to,
    /** Missing in the links that operators make. */
    invitation: { type: invitation, allowNull: false },
  },
  { ...ROW, collection: 'sign_in_links' },
);

export type SessionRow = RowOf<typeof sessionSchema>;

export const sessionSchema = Schema.create(
  {
    _id: DIGEST,
    ...SIGN_IN,
    created_at: required.time,
    /** Its last use that was recorded (sessions.ts), on which `ends_at` depends. */
    used_at: required.time,
    ends_at: required.time,
    return_to,
    /** Id of the sandbox that it acts for; missing or null if it acts for its organisation itself. */
    acts_for: { type: String },
  },
  { ...ROW, collection: 'sessions' },
);

for (const schema of [linkSchema, sessionSchema]) {
  schema.index({ ends_at: 1 }, { expireAfterSeconds: 0 });
  schema.index({ organisation_id: 1, 'user.id': 1 });
}

/** Who has signed in to an organisation, with name and role as of the last sign-in. */
export const memberSchema = Schema.create(
  {
    /** `<organisation id>:<user id>` */
    _id: required.text,
    ...SIGN_IN,
    last_sign_in_at: required.time,
    /** Network address. */
    from: required.text,
  },
  { ...ROW, collection: 'members' },
);
memberSchema.index({ organisation_id: 1, last_sign_in_at: -1, _id: -1 });
