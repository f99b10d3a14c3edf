import type OAuth2Server from '@node-oauth/oauth2-server';
import type { Exchange } from '../http/exchange';
import type { AppKey, CodePresenter, IssuedTokens } from '../organisations/connectedApps';
import type { Control } from '../organisations/control';
import type { ClientRow } from '../organisations/appRows';
import { GRANT_TYPES } from './registration';

/*
 * Token requests: the library checks them and the client, and compares the challenge of PKCE; the control database has codes and tokens
 * (docs/decisions/oauth.md).
 */

/** What the library hands on, as its `user`, from a code or refresh token to the tokens that follow. */
interface Grant {
  readonly key: AppKey;
  /** The refresh token that is exchanged; undefined for a code. */
  readonly refresh?: string;
}

const clientOf = ({ _id: id }: Pick<ClientRow, '_id'>): OAuth2Server.Client => ({ id, grants: [...GRANT_TYPES] });

/** The library's storage, for one request: its methods are called by the library, which refuses what they return undefined for. */
function modelFor(
  { apps }: Pick<Control, 'apps'>,
  { from, verifier }: Omit<CodePresenter, 'clientId'>,
  /** The database's time. */
  now: () => number,
  /** Makes the error for a code or token that another request used a moment ago. */
  refusal: () => Error,
) {
  // set by getClient, which the library calls first
  let clientId: string | undefined;
  // the library compares times with this machine's clock
  const byThisClock = (time: Date): Date => new Date(time.getTime() - now() + Date.now());
  /** What the library answers with. */
  const tokenOf = ({ access, accessEndsAt, refresh, key }: IssuedTokens, client: OAuth2Server.Client) => ({
    accessToken: access,
    accessTokenExpiresAt: byThisClock(accessEndsAt),
    refreshToken: refresh,
    scope: [...key.scopes],
    client,
    user: {},
  });
  return {
    async getClient(id: string, secret?: string) {
      const client = await apps.clients.authenticate(id, secret);
      clientId = client?._id;
      return client && clientOf(client);
    },
    async getAuthorizationCode(text: string) {
      const key = await apps.ofCode(text, { clientId, verifier, from });
      if (!key) return undefined;
      const { code, client_id } = key.app;
      const grant: Grant = { key };
      return {
        authorizationCode: text,
        // until the code is redeemed, the key ends with it
        expiresAt: byThisClock(key.expires_at),
        redirectUri: code.redirect_uri,
        codeChallenge: code.challenge,
        codeChallengeMethod: 'S256',
        scope: [...key.scopes],
        client: clientOf({ _id: client_id }),
        user: grant,
      };
    },
    revokeAuthorizationCode: ({ user }: { readonly user: Grant }) => apps.redeem(user.key, from),
    async getRefreshToken(text: string) {
      const key = await apps.ofRefreshToken(text, from);
      if (!key) return undefined;
      const grant: Grant = { key, refresh: text };
      const client = clientOf({ _id: key.app.client_id });
      return { refreshToken: text, scope: [...key.scopes], client, user: grant };
    },
    // saveToken replaces a refresh token in the same write as it stores the next
    revokeToken: () => Promise.resolve(true),
    // the scopes are those that the admin allowed, whatever is asked for
    validateScope: ({ key }: Grant) => Promise.resolve([...key.scopes]),
    // the library's own tokens, and their lifetime, are not used
    async saveToken(_made: unknown, client: OAuth2Server.Client, { key, refresh }: Grant) {
      const issued = refresh === undefined ? await apps.begin(key) : await apps.refresh(refresh, from);
      if (!issued) throw refusal();
      return tokenOf(issued, client);
    },
  };
}

/** An answer to a token request. */
export interface TokenAnswer {
  readonly isIssued: boolean;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** Returns a function that makes the answer to a token request, in whose form no name is repeated. `now` is the database's time. @throws what is no fault of the caller */
export function createTokenRequests(control: Pick<Control, 'apps'>, now: () => number) {
  // loaded on first use, since few gateways need it at once
  let loaded: Promise<typeof OAuth2Server> | undefined;
  return async ({ request, address }: Exchange, form: Readonly<Record<string, string>>): Promise<TokenAnswer> => {
    const library = await (loaded ??= import('@node-oauth/oauth2-server').then(({ default: made }) => made));
    const refusal = (): Error => new library.InvalidGrantError('Invalid grant: it was used before, or has ended');
    const model = modelFor(
      control,
      { from: address, verifier: form.code_verifier },
      now,
      refusal,
    ) as unknown as OAuth2Server.AuthorizationCodeModel;
    const server = new library({ model });
    const { headers } = request;
    const answer = new library.Response({ headers: {} });
    try {
      await server.token(new library.Request({ headers, method: 'POST', query: {}, body: form } as never), answer, {
        // clients without a secret prove themselves by PKCE and by their refresh tokens
        requireClientAuthentication: { authorization_code: false, refresh_token: false },
      });
    } catch (error) {
      if (!(error instanceof library.OAuthError)) throw error;
      // the library wraps what the database or this program threw
      if ('inner' in error && !(error.inner instanceof library.OAuthError)) throw error.inner;
      return { ...partsOf(answer), isIssued: false };
    }
    return { ...partsOf(answer), isIssued: true };
  };
}

function partsOf({ status = 200, headers = {}, body }: OAuth2Server.Response): Omit<TokenAnswer, 'isIssued'> {
  return { status, headers, body: body as object };
}
