import { Schema } from 'mongoose';
import { ALL_ROLES } from '../auth/roles';
import { OPTIONAL_TEXT, PART, ROW, type RowOf, TEXT, TIME } from './schemas';

/** Who signs in, and to which organisation. */
const SIGN_IN = {
  organisation_id: TEXT,
  user: { type: Schema.create({ id: TEXT, name: TEXT, email: OPTIONAL_TEXT }, PART), required: true },
  role: { ...TEXT, enum: ALL_ROLES },
} as const;

/** SHA-256 of a token, base64url, so that reading the database does not allow signing in. */
const DIGEST = TEXT;

export const linkSchema = Schema.create(
  { _id: DIGEST, ...SIGN_IN, created_at: TIME, ends_at: TIME },
  { ...ROW, collection: 'sign_in_links' },
);

export type SessionRow = RowOf<typeof sessionSchema>;

export const sessionSchema = Schema.create(
  {
    _id: DIGEST,
    ...SIGN_IN,
    created_at: TIME,
    used_at: TIME,
    ends_at: TIME,
    /** Id of the sandbox that it acts for; missing or null if it acts for its organisation itself. */
    acts_for: { type: String },
  },
  { ...ROW, collection: 'sessions' },
);

for (const schema of [linkSchema, sessionSchema]) {
  schema.index({ ends_at: 1 }, { expireAfterSeconds: 0 });
  schema.index({ organisation_id: 1, 'user.id': 1 });
}

/** Who has signed in to an organisation; the last sign-in counts. */
export const memberSchema = Schema.create(
  {
    /** `<organisation id>:<user id>` */
    _id: TEXT,
    ...SIGN_IN,
    last_sign_in_at: TIME,
    /** Network address. */
    from: TEXT,
  },
  { ...ROW, collection: 'members' },
);
memberSchema.index({ organisation_id: 1, last_sign_in_at: -1, _id: -1 });
