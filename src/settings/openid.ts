import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type * as Library from 'openid-client';
import type { Config } from '../config';
import { AppError } from '../errors';
import type { NewSession } from '../organisations/sessions';
import { sessionOf } from './claims';

/** Path of the redirect URI, below PUBLIC_URL. */
export const CALLBACK_PATH = '/settings/sign-in/oidc/callback';

/** What a sign-in in progress is finished with, kept in a cookie of the browser that started it; `verifier` is that of PKCE. */
interface Attempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** How long a sign-in may take, in seconds. */
export const ATTEMPT_SECONDS = 600;

/**
 * Writes attempts as strings and reads them back. They are signed and expire, since each attempt that is accepted causes a request to the
 * issuer: callers must not be able to forge one. The key is derived from the client secret, and `now` is the database's time, so that all gateways have
 * the same.
 */
function createAttemptCodec(clientSecret: string, now: () => number) {
  const key = Buffer.from(hkdfSync('sha256', clientSecret, 'scopegate sign-in', 'attempt', 32));
  const sign = (text: string): string => createHmac('sha256', key).update(text).digest('base64url');
  return {
    write({ state, nonce, verifier }: Attempt): string {
      const text = [state, nonce, verifier, Math.round(now()) + ATTEMPT_SECONDS * 1000].join('.');
      return `${text}.${sign(text)}`;
    },
    /** Undefined if it is malformed, expired or not ours. The library's values, like the signature, are 43 characters of base64url. */
    read(attemptText: string | undefined): Attempt | undefined {
      const parts = /^(([\w-]{43})\.([\w-]{43})\.([\w-]{43})\.(\d{13}))\.([\w-]{43})$/.exec(attemptText ?? '');
      const [, text = '', state = '', nonce = '', verifier = '', end, signature = ''] = parts ?? [];
      if (!parts || Number(end) < now()) return undefined;
      return timingSafeEqual(Buffer.from(sign(text)), Buffer.from(signature)) ? { state, nonce, verifier } : undefined;
    },
  };
}

interface Client {
  readonly library: typeof Library;
  readonly client: Library.Configuration;
}

export interface OpenIdOptions {
  readonly config: Config;
  /** The database's time. */
  readonly now: () => number;
  /** Called with the issuer's error if a sign-in fails. */
  readonly onError: (error: unknown) => void;
}

export type OpenId = NonNullable<ReturnType<typeof createOpenId>>;

/** Sign-in with OpenID Connect: code flow with PKCE, state and nonce. Undefined if OIDC_ISSUER is not set. */
export function createOpenId({ config, now, onError }: OpenIdOptions) {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: id, OIDC_CLIENT_SECRET: secret, PUBLIC_URL: publicUrl } = config;
  if (issuer === undefined || id === undefined || secret === undefined || publicUrl === undefined) return undefined;
  const redirectUri = `${publicUrl}${CALLBACK_PATH}`;
  const codec = createAttemptCodec(secret, now);
  let discovered: Promise<Client> | undefined;

  /** Discovered on first use and retried after a failure, so that the gateway starts even if the issuer is down. */
  const discover = (): Promise<Client> =>
    (discovered ??= connect(issuer, id, secret).catch((error: unknown) => {
      discovered = undefined;
      onError(error);
      throw notResponding();
    }));

  return {
    /** The URL to redirect the browser to, and the attempt for the browser to keep until the user returns. @throws AppError unavailable if the issuer does not respond */
    async begin() {
      const { library, client } = await discover();
      const state = library.randomState();
      const nonce = library.randomNonce();
      const verifier = library.randomPKCECodeVerifier();
      const url = library.buildAuthorizationUrl(client, {
        redirect_uri: redirectUri,
        scope: config.OIDC_SCOPES,
        state,
        nonce,
        code_challenge: await library.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, attempt: codec.write({ state, nonce, verifier }) };
    },
    readAttempt: (text: string | undefined) => codec.read(text),
    /**
     * The session for the user who returned. `search` is the query of the callback, with its `?`.
     * @throws AppError forbidden if the issuer rejected the user, or the user has no organisation or role here; unavailable if it does not respond, or with 5xx
     */
    async finish(search: string, { state, nonce, verifier }: Attempt): Promise<NewSession> {
      const { library, client } = await discover();
      try {
        const tokens = await library.authorizationCodeGrant(client, new URL(`${redirectUri}${search}`), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const identity = tokens.claims();
        if (!identity) throw new Error('the issuer sent no ID token');
        const { userinfo_endpoint: userinfo } = client.serverMetadata();
        const more = userinfo ? await library.fetchUserInfo(client, tokens.access_token, identity.sub) : {};
        return sessionOf({ ...more, ...identity }, config);
      } catch (error) {
        if (error instanceof AppError) throw error;
        onError(error);
        if (isNotResponding(error)) throw notResponding();
        throw new AppError('forbidden', 'The identity provider did not sign you in. Start again.');
      }
    },
  };
}

const notResponding = (): AppError =>
  new AppError('unavailable', 'The identity provider is not responding.', { reason: 'sign_in', retryAfter: 5 });

/** Whether an error of the library is that a request failed, took too long or was answered with 5xx. */
function isNotResponding(error: unknown): boolean {
  // `status` if the answer had an error in its body; otherwise the answer is the cause
  const { name, code, status, cause } = error as Error & { code?: string; status?: number; cause?: Partial<Response> };
  const isFetch = name === 'TypeError' && code === undefined;
  return isFetch || code === 'OAUTH_TIMEOUT' || (status ?? cause?.status ?? 0) >= 500;
}

async function connect(issuer: string, id: string, secret: string): Promise<Client> {
  // an ES module, and large: loaded on the first sign-in
  const library = await import('openid-client');
  const url = new URL(issuer);
  // isSecureOrLocal (config/checks.ts) allows http for loopback only; the library marks this as deprecated to make it stand out
  /* oxlint-disable typescript/no-deprecated */
  const allowances: ((client: Library.Configuration) => void)[] =
    url.protocol === 'http:' ? [library.allowInsecureRequests] : [];
  /* oxlint-enable typescript/no-deprecated */
  const discovered = await library.discovery(url, id, secret, undefined, { execute: allowances });
  const server = discovered.serverMetadata();
  // the specification's default
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const authenticate = methods.includes('client_secret_basic') ? library.ClientSecretBasic : library.ClientSecretPost;
  const client = new library.Configuration(server, id, secret, authenticate(secret));
  for (const allow of allowances) allow(client);
  return { library, client };
}
