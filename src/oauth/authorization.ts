import type { Scope } from '../auth/scopes';
import type { ClientRow } from '../organisations/appRows';
import { published } from '../schema/model';
import { isOwnResource } from './address';
import { isRegistered, withParameters } from './redirectUris';

/* Requests for the consent of an admin (RFC 6749, section 4.1.1). */

/** Maximum characters of the query of such a request, which the browser keeps in a cookie while somebody signs in. */
export const LONGEST_QUERY = 2000;

export interface AuthorizationRequest {
  readonly client: ClientRow;
  readonly redirectUri: string;
  /** The code challenge of PKCE, SHA-256 in base64url. */
  readonly challenge: string;
  readonly state: string | undefined;
  /** The scopes that it asks for and that exist; without any, the admin chooses. */
  readonly scopes: readonly Scope[];
}

/**
 * What to do with a request: ask somebody; or show why it is wrong, a sentence. The browser never goes back to the app with an error that nobody
 * has seen, since anyone can register an address (RFC 9700, section 4.11.2).
 */
export type Checked = { readonly authorization: AuthorizationRequest } | { readonly fault: string };

/** Finds a registered app by its id. */
type FindClient = (id: string) => Promise<ClientRow | undefined>;

/** Checks the query of a request. `address` is that of the gateway. */
export async function checkAuthorization(query: string, address: string, find: FindClient): Promise<Checked> {
  if (query.length > LONGEST_QUERY) return { fault: 'The request is too long.' };
  const parameters = new URLSearchParams(query);
  const single = (name: string): string | undefined => {
    const values = parameters.getAll(name);
    return values.length === 1 ? values[0] : undefined;
  };
  const clientId = single('client_id');
  const redirectUri = single('redirect_uri');
  const client = clientId === undefined ? undefined : await find(clientId);
  if (!client) return { fault: 'The app is not registered here. Remove the connection in the app and add it again.' };
  if (redirectUri === undefined || !isRegistered(redirectUri, client.redirect_uris))
    return { fault: 'The app asks for an answer at an address that it has not registered.' };
  const wrong = faultOf(parameters, address);
  if (wrong !== undefined) return { fault: `The request of the app is wrong: ${wrong}.` };
  // scopes that do not exist are ignored (RFC 6749, section 3.3): apps ask for those of OpenID Connect and offline_access wherever they connect
  const named = (single('scope') ?? '').split(' ');
  const scopes = published.usedScopes.filter((scope) => named.includes(scope));
  const challenge = single('code_challenge') ?? '';
  return { authorization: { client, redirectUri, challenge, state: single('state'), scopes } };
}

/** Whether a parameter is sent more than once, which OAuth forbids (RFC 6749, section 3.1). */
export function hasRepeated(parameters: URLSearchParams): boolean {
  const names = [...parameters.keys()];
  return new Set(names).size < names.length;
}

/** What is wrong with a request of a registered app, as a clause. */
function faultOf(parameters: URLSearchParams, address: string): string | undefined {
  const others = new URLSearchParams(parameters);
  // it may be repeated (RFC 8707, section 2), and is checked below; it is not kept, since a token works on all APIs (docs/decisions/oauth.md)
  others.delete('resource');
  if (hasRepeated(others)) return 'a parameter must not be repeated';
  if (parameters.has('request') || parameters.has('request_uri')) return 'requests as objects are not supported';
  if (parameters.get('response_type') !== 'code') return 'response_type must be code';
  if ((parameters.get('response_mode') ?? 'query') !== 'query') return 'response_mode must be query';
  if (parameters.get('code_challenge_method') !== 'S256') return 'PKCE is required: code_challenge_method must be S256';
  if (!/^[\w-]{43}$/.test(parameters.get('code_challenge') ?? ''))
    return 'PKCE is required: code_challenge must be 43 characters of base64url';
  if (!parameters.getAll('resource').every((resource) => isOwnResource(address, resource)))
    return `resource must be ${address}, or one of its APIs`;
  return undefined;
}

/** Where the browser goes with the answer to a request: to the app; `address` is that of the gateway. */
export function answerTo(
  { redirectUri, state }: AuthorizationRequest,
  address: string,
  answer: { readonly code: string } | { readonly error: string; readonly error_description: string },
): string {
  return withParameters(redirectUri, { ...answer, state, iss: address });
}
