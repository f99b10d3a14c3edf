import { trusted } from 'mongoose';
import { nextSecrets, parseCode, parseRefreshToken, writeCode, writeRefreshToken } from '../auth/appTokens';
import type { AppTokens } from '../auth/connectedApp';
import { isInRanges } from '../auth/addresses';
import { digestOf, isDigestOf } from '../auth/digest';
import { type ApiKey, hashWithNewSalt, keyState, newSecret, parseKey, rangesOf, writeKey } from '../auth/keys';
import type { Config } from '../config';
import { DAY, HOUR, MINUTE } from '../units';
import type { ApiKeys } from './apiKeys';
import type { createAppClients } from './appClients';
import type { ClientRow } from './appRows';
import type { Authority } from './auditEvents';
import type { NewApiKey } from './keyDocuments';
import type { ControlModels } from './models';

/* Keys of apps: a consent makes one, its code is exchanged for tokens, and these for the next ones (docs/decisions/oauth.md). */

/** How long a code works, in milliseconds. */
const CODE_LIFE = MINUTE;
/** How long after its issue a code that is used again ends its key even if it comes without the verifier of its challenge, in milliseconds. */
const REPLAYED_WITHIN = 10 * MINUTE;
/** How long a client is kept whose code was not exchanged, in milliseconds. */
const UNREDEEMED_KEPT = DAY;
/** How long an access token works, in milliseconds. */
const ACCESS_LIFE = HOUR;
/** How long after a rotation the previous refresh token gets the same answer again, in milliseconds: its first answer may be lost. */
const REPEATED_WITHIN = MINUTE;

export interface Consent extends Pick<NewApiKey, 'organisationId' | 'scopes' | 'mcp' | 'created_by'> {
  readonly client: Pick<ClientRow, '_id' | 'name'>;
  /** Where the app gets its code (auth/connectedApp.ts). */
  readonly host: string;
  readonly redirectUri: string;
  /** Of PKCE: the digest of the verifier. */
  readonly challenge: string;
  /** How long the app stays connected, in milliseconds. */
  readonly lifetime: number;
}

/** A key of an app that has not ended. It always has an end: that of its code, and then that of the connection. */
export type AppKey = ApiKey & Required<Pick<ApiKey, 'app'>> & { readonly expires_at: Date };

export interface CodePresenter {
  /** The client that has authenticated; undefined if none has. */
  readonly clientId: string | undefined;
  readonly verifier: string | undefined;
  /** Its network address. */
  readonly from: string;
}

export interface IssuedTokens {
  readonly access: string;
  readonly refresh: string;
  readonly accessEndsAt: Date;
  readonly key: AppKey;
}

interface ConnectedAppsOptions {
  readonly apiKeys: ApiKeys;
  readonly clients: ReturnType<typeof createAppClients>;
  readonly config: Pick<Config, 'KEY_PREFIX_APP' | 'KEY_PEPPER'>;
  readonly now: () => number;
  readonly pepperNumber: () => number | undefined;
}

export function createConnectedApps(models: Pick<ControlModels, 'apiKeys'>, options: ConnectedAppsOptions) {
  const { apiKeys, clients, config, now, pepperNumber } = options;
  const prefix = config.KEY_PREFIX_APP;

  async function findActive(id: string | undefined): Promise<AppKey | undefined> {
    const key = id === undefined ? null : await apiKeys.find(id);
    return key?.app && keyState(key, new Date(now())) === 'active' ? (key as AppKey) : undefined;
  }

  /** Ends what a stolen code or token came from. `from` is the network address of who presented it. */
  async function end({ _id, name, app }: AppKey, from: string): Promise<void> {
    const by: Authority = { actor: { who: `app:${app.client_id}`, name, from } };
    await apiKeys.revoke(_id, by);
  }

  /**
   * Stores the tokens that follow an exchanged secret, if the row still matches `expected`, and resolves with the key as it is then; null if it does
   * not match, or has ended. `family` and `previous` are digests, as in AppTokens.
   */
  async function store(key: AppKey, expected: object, exchanged: string, family: string, previous: string | null) {
    const at = new Date(now());
    const seed = newSecret();
    const { access, refresh } = nextSecrets(exchanged, seed);
    const until = key.app.tokens ? key.expires_at : key.app.ends_at;
    const access_ends_at = new Date(Math.min(at.getTime() + ACCESS_LIFE, until.getTime()));
    const tokens: AppTokens = { access_ends_at, family, refresh: digestOf(refresh), previous, seed, issued_at: at };
    const pepper = pepperNumber();
    const set = {
      ...hashWithNewSalt(access, config.KEY_PEPPER),
      ...(pepper !== undefined && { pepper }),
      last_four: writeKey(prefix, key._id, access).slice(-4),
      expires_at: until,
      'app.tokens': tokens,
    };
    const unended = { _id: key._id, revoked_at: null, expires_at: trusted({ $gt: at }) };
    return models.apiKeys
      .findOneAndUpdate({ ...unended, ...expected }, { $set: set }, { returnDocument: 'after' })
      .lean() as Promise<AppKey | null>;
  }

  /** The tokens of a key, which follow from the secret that was exchanged for them. `family` is the connection's secret, not its digest. */
  function issuedTokens(key: AppKey, tokens: AppTokens, exchanged: string, family: string): IssuedTokens {
    const { access, refresh: secret } = nextSecrets(exchanged, tokens.seed);
    const refresh = writeRefreshToken(prefix, { id: key._id, family, secret });
    return { access: writeKey(prefix, key._id, access), refresh, accessEndsAt: tokens.access_ends_at, key };
  }

  return {
    /**
     * Makes the key that an admin allowed, and resolves with the code that its app exchanges for tokens. Undefined if the organisation does
     * not exist. @throws KeyRefused beyond the `active_keys` of its plan
     */
    async allow({ client, host, redirectUri, challenge, lifetime, ...key }: Consent, by: Authority) {
      const secret = newSecret();
      const at = now();
      const code = { digest: digestOf(secret), challenge, redirect_uri: redirectUri };
      const app = { client_id: client._id, host, ends_at: new Date(at + lifetime), code };
      const created = await apiKeys.create(
        { ...key, name: client.name, expires_at: new Date(at + CODE_LIFE), app },
        by,
      );
      if (!created) return undefined;
      // `begin` keeps it for as long as the key
      await clients.keep(client._id, new Date(at + UNREDEEMED_KEPT));
      return writeCode(prefix, created.document._id, secret);
    },
    /**
     * The key whose code this is; undefined if there is none, or the code was used. A used code ends its key if its own app presents it, with the
     * verifier or soon: whoever only found it in a log ends nothing.
     */
    async ofCode(text: string, { clientId, verifier = '', from }: CodePresenter): Promise<AppKey | undefined> {
      const parsed = parseCode(prefix, text);
      const key = await findActive(parsed?.id);
      if (!parsed || !key || !isDigestOf(parsed.secret, key.app.code.digest)) return undefined;
      const { used_at, challenge } = key.app.code;
      if (used_at === undefined) return key;
      const isSoon = now() - key.created_at.getTime() < REPLAYED_WITHIN;
      if (clientId === key.app.client_id && (isSoon || isDigestOf(verifier, challenge))) await end(key, from);
      return undefined;
    },
    /** Uses the code of a key; of two that do so at once, the second ends the key. False if it was used before. */
    async redeem(key: AppKey, from: string): Promise<boolean> {
      const unused = { _id: key._id, revoked_at: null, 'app.code.used_at': null };
      const { modifiedCount } = await models.apiKeys.updateOne(unused, {
        $set: { 'app.code.used_at': new Date(now()) },
      });
      if (modifiedCount === 0) await end(key, from);
      return modifiedCount === 1;
    },
    /** The first tokens of a key whose code was redeemed; undefined if it has ended meanwhile. */
    async begin(key: AppKey): Promise<IssuedTokens | undefined> {
      // stands for the secret of a refresh token, as none was exchanged
      const first = newSecret();
      const family = newSecret();
      const stored = await store(key, { 'app.tokens': null }, first, digestOf(family), null);
      if (!stored?.app.tokens) return undefined;
      await clients.keep(stored.app.client_id, stored.app.ends_at);
      return issuedTokens(stored, stored.app.tokens, first, family);
    },
    /** The key whose refresh token this is, or once was; undefined if there is none that may be used from this address. */
    async ofRefreshToken(text: string, from: string): Promise<AppKey | undefined> {
      const parsed = parseRefreshToken(prefix, text);
      const key = await findActive(parsed?.id);
      if (key && !isInRanges(from, rangesOf(key))) return undefined;
      return parsed && key?.app.tokens && isDigestOf(parsed.family, key.app.tokens.family) ? key : undefined;
    },
    /** The tokens after the current refresh token, or, within {@link REPEATED_WITHIN}, again those after the previous one. Undefined for others, of which earlier ones end their key. */
    async refresh(text: string, from: string): Promise<IssuedTokens | undefined> {
      const parsed = parseRefreshToken(prefix, text);
      if (!parsed) return undefined;
      const { id, family, secret } = parsed;
      const presented = digestOf(secret);
      // tried once more if another request rotated it meanwhile
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const key = await findActive(id);
        const tokens = key?.app.tokens;
        if (!key || !tokens || !isDigestOf(family, tokens.family)) return undefined;
        if (tokens.refresh !== presented) {
          const isRepeated = tokens.previous === presented && now() - tokens.issued_at.getTime() < REPEATED_WITHIN;
          if (isRepeated) return issuedTokens(key, tokens, secret, family);
          await end(key, from);
          return undefined;
        }
        const stored = await store(key, { 'app.tokens.refresh': presented }, secret, tokens.family, presented);
        if (stored?.app.tokens) return issuedTokens(stored, stored.app.tokens, secret, family);
      }
      return undefined;
    },
    /** Ends the key of a token of this app, if it is one (RFC 7009). */
    async revoke(token: string, clientId: string, from: string): Promise<void> {
      const refresh = parseRefreshToken(prefix, token);
      const access = parseKey(token, prefix);
      const key = await findActive((refresh ?? access)?.id);
      if (!key?.app.tokens || key.app.client_id !== clientId) return;
      const isProved = refresh
        ? isDigestOf(refresh.family, key.app.tokens.family)
        : access !== undefined && apiKeys.isSecretOf(access.secret, key);
      if (isProved) await end(key, from);
    },
  };
}
