/** An app that is connected by OAuth (docs/decisions/oauth.md). Digests are SHA-256, base64url. */
export interface ConnectedApp {
  readonly client_id: string;
  /** Where it gets its code: the host of its redirect address, or that address' scheme with `:` if it has no host. */
  readonly host: string;
  /** The expiry of the key once it has tokens; until then the key expires with the code. */
  readonly ends_at: Date;
  readonly code: {
    readonly digest: string;
    /** Of the S256 method of PKCE. */
    readonly challenge: string;
    readonly redirect_uri: string;
    /** When it was spent: at its first exchange, even if that ended without tokens. */
    readonly used_at?: Date;
  };
  /** Missing until the first are issued, which comes after `used_at`. */
  readonly tokens?: AppTokens;
}

export interface AppTokens {
  /** When the access token expires. */
  readonly access_ends_at: Date;
  /** Digest of the secret that all refresh tokens of the connection share. */
  readonly family: string;
  /** Digests of the secrets of the current refresh token, and of the one before; null if it is the first. */
  readonly refresh: string;
  readonly previous: string | null;
  /** What the current tokens are derived from, together with the secret of the refresh token before; for the first, with a random one that is not kept. */
  readonly seed: string;
  /** Of the current tokens. Within a minute of it, the refresh token before gets them again. */
  readonly issued_at: Date;
}
