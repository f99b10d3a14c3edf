import { Schema } from 'mongoose';
import { listOf, nullable, optional, PART, required, ROW, type RowOf } from './schemas';

/** How clients authenticate at the token endpoint. */
export const CLIENT_AUTHENTICATION = ['none', 'client_secret_basic', 'client_secret_post'] as const;

/** Of a key: the app that was connected. Its rows are read as ConnectedApp (auth/connectedApp.ts), which says what each member is. */
export const connectedApp = Schema.create(
  {
    client_id: required.text,
    host: required.text,
    ends_at: required.time,
    code: {
      type: Schema.create(
        {
          digest: required.text,
          challenge: required.text,
          redirect_uri: required.text,
          used_at: optional.time,
        } as const,
        PART,
      ),
      required: true,
    },
    tokens: {
      type: Schema.create(
        {
          access_ends_at: required.time,
          family: required.text,
          refresh: required.text,
          previous: nullable.text,
          seed: required.text,
          issued_at: required.time,
        } as const,
        PART,
      ),
      allowNull: false,
    },
  } as const,
  PART,
);

export type ClientRow = RowOf<typeof clientSchema>;

/** An app that has registered (RFC 7591); it may do nothing until an admin allows it, which makes a key. */
export const clientSchema = Schema.create(
  {
    /** The client id, a UUID. */
    _id: required.text,
    name: required.text,
    redirect_uris: listOf<string>(),
    authentication: { ...required.text, enum: CLIENT_AUTHENTICATION },
    /** SHA-256 of its secret, base64url; null if it has none. */
    secret: nullable.text,
    created_at: required.time,
    /** When an admin last allowed it, or, after that, its first tokens were issued; null if no admin ever did. */
    allowed_at: nullable.time,
    /** Digest of the bucket of the network address that registered it; missing from earlier versions. */
    registered_from: optional.text,
    /** Until when it is kept because an admin was asked about it; missing if none was. */
    kept_until: optional.time,
    /** When it is deleted: a day after it was registered, or later if it is kept for an admin or was allowed. */
    ends_at: required.time,
  } as const,
  { ...ROW, collection: 'oauth_clients' },
);
clientSchema.index({ ends_at: 1 }, { expireAfterSeconds: 0 });
// those that nobody allowed (null); appClients.ts reads it backwards, oldest first
clientSchema.index({ allowed_at: 1, created_at: -1 });
