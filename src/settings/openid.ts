import type * as Library from 'openid-client';
import { isRole, type Role } from '../access/roles';
import type { Config } from '../config';
import { AppError } from '../errors';
import type { NewSession } from '../organisations/sessions';

/** Path of the redirect URI, below PUBLIC_URL. */
export const CALLBACK_PATH = '/settings/sign-in/oidc/callback';

/** The state of a sign-in in progress, kept in a cookie of the browser that started it. */
export interface Attempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export interface OpenId {
  /** The URL to redirect the browser to, and the state to check when it returns. */
  begin(): Promise<{ url: string; attempt: Attempt }>;
  /**
   * The session for the user who returned. `search` is the query of the callback.
   * @throws AppError forbidden if the issuer rejected the user, or the user has no organisation or role here
   */
  finish(search: string, attempt: Attempt): Promise<NewSession>;
}

export interface OpenIdOptions {
  readonly config: Config;
  /** Called with the issuer's error if a sign-in fails. */
  readonly onError: (error: unknown) => void;
}

type Claims = Readonly<Record<string, unknown>>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Sign-in with OpenID Connect: code flow with PKCE, state and nonce. Undefined if OIDC_ISSUER is not set. */
export function openId({ config, onError }: OpenIdOptions): OpenId | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: id, OIDC_CLIENT_SECRET: secret, PUBLIC_URL: publicUrl } = config;
  if (issuer === undefined || id === undefined || secret === undefined || publicUrl === undefined) return undefined;
  const client = { issuer, id, secret };
  const redirectUri = `${publicUrl}${CALLBACK_PATH}`;
  let discovered: Promise<{ library: typeof Library; client: Library.Configuration }> | undefined;

  /** Discovered on first use and retried after a failure, so that the gateway starts even if the issuer is down. */
  function discover(): NonNullable<typeof discovered> {
    discovered ??= connect(client).catch((error: unknown) => {
      discovered = undefined;
      onError(error);
      throw new AppError('unavailable', 'The identity provider is not responding.', { retryAfter: 5 });
    });
    return discovered;
  }

  return {
    async begin() {
      const { library, client } = await discover();
      const attempt = {
        state: library.randomState(),
        nonce: library.randomNonce(),
        verifier: library.randomPKCECodeVerifier(),
      };
      const url = library.buildAuthorizationUrl(client, {
        redirect_uri: redirectUri,
        scope: config.OIDC_SCOPES,
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await library.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, attempt };
    },
    async finish(search, { state, nonce, verifier }) {
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
        return toSession({ ...more, ...identity }, config);
      } catch (error) {
        if (error instanceof AppError) throw error;
        onError(error);
        throw new AppError('forbidden', 'The identity provider did not sign you in. Start again.');
      }
    },
  };

  async function connect(own: {
    issuer: string;
    id: string;
    secret: string;
  }): Promise<{ library: typeof Library; client: Library.Configuration }> {
    // an ES module, and large: loaded on the first sign-in
    const library = await import('openid-client');
    const url = new URL(own.issuer);
    // config.ts allows http for loopback only; the library marks this as deprecated to make it stand out
    /* eslint-disable @typescript-eslint/no-deprecated */
    const allowances: ((client: Library.Configuration) => void)[] =
      url.protocol === 'http:' ? [library.allowInsecureRequests] : [];
    /* eslint-enable @typescript-eslint/no-deprecated */
    const found = await library.discovery(url, own.id, own.secret, undefined, { execute: allowances });
    const server = found.serverMetadata();
    // the specification's default
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const authenticate = methods.includes('client_secret_basic') ? library.ClientSecretBasic : library.ClientSecretPost;
    const client = new library.Configuration(server, own.id, own.secret, authenticate(own.secret));
    for (const allow of allowances) allow(client);
    return { library, client };
  }
}

/** @throws AppError forbidden if a required claim is missing */
function toSession(claims: Claims & { readonly sub: string }, config: Config): NewSession {
  const organisationId = claims[config.OIDC_ORGANISATION_CLAIM];
  const role = strongestRole(claims[config.OIDC_ROLE_CLAIM]);
  if (typeof organisationId !== 'string' || !UUID.test(organisationId)) {
    throw notAllowed(config.OIDC_ORGANISATION_CLAIM, "the id of the user's organisation");
  }
  if (role === undefined) throw notAllowed(config.OIDC_ROLE_CLAIM, 'admin or member');
  const name = [claims.name, claims.preferred_username, claims.email].find(
    (text): text is string => typeof text === 'string' && text.trim() !== '',
  );
  return {
    organisationId: organisationId.toLowerCase(),
    role,
    user: { id: `oidc:${claims.sub}`, name: (name ?? claims.sub).slice(0, 200) },
  };
}

function strongestRole(claim: unknown): Role | undefined {
  const named = (Array.isArray(claim) ? (claim as unknown[]) : [claim]).filter(isRole);
  return named.includes('admin') ? 'admin' : named[0];
}

function notAllowed(claim: string, meaning: string): AppError {
  const detail = `The identity provider signed you in, but its claim ${claim} is not ${meaning}. Ask its administrator.`;
  return new AppError('forbidden', detail);
}
