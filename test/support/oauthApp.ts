import { createHash, randomBytes } from 'node:crypto';
import type { Person } from '../admin/settings/people';
import type { Json } from './client';
import type { TestGateway } from './gateway';

/* An app that connects by OAuth, call by call, and the person who allows it. */

export const CALLBACK = 'https://app.example/callback';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

interface At {
  readonly url: string;
}

async function answerOf(response: Response): Promise<HttpAnswer> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

export const get = async (url: string): Promise<HttpAnswer> => answerOf(await fetch(url));

export const register = async (
  { url }: At,
  body: object = {},
  headers: Record<string, string> = {},
): Promise<HttpAnswer> =>
  answerOf(
    await fetch(`${url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({
        redirect_uris: [CALLBACK],
        client_name: 'Helper',
        token_endpoint_auth_method: 'none',
        ...body,
      }),
    }),
  );

/** Posts a form to an endpoint of the authorization server; undefined values are left out. */
export async function post(
  { url }: At,
  endpoint: 'token' | 'revoke',
  form: Readonly<Record<string, string | undefined>>,
  headers: Record<string, string> = {},
): Promise<HttpAnswer> {
  const given = Object.entries(form).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return answerOf(
    await fetch(`${url}/oauth/${endpoint}`, { method: 'POST', headers, body: new URLSearchParams(given) }),
  );
}

export const verifier = (): string => randomBytes(32).toString('base64url');
export const challengeFor = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** The query of a request for consent. */
export const requestQuery = (clientId: string, challenge: string, more: Record<string, string> = {}): string =>
  `?${new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: CALLBACK,
    state: 'a state',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...more,
  }).toString()}`;

/** Opens the address of a request for consent in the browser of somebody. */
export const ask = async ({ url }: At, query: string, cookie?: string): Promise<HttpAnswer> =>
  answerOf(
    await fetch(`${url}/settings/authorize${query}`, {
      redirect: 'manual',
      ...(cookie !== undefined && { headers: { cookie } }),
    }),
  );

export interface Choice {
  readonly scopes?: readonly string[];
  readonly mode?: 'live' | 'test';
  readonly decision?: 'allow' | 'deny';
  readonly csrf?: string;
}

/** Sends the consent page's form; the location of the answer's redirect is an URL. */
export async function decide({ url }: At, query: string, { cookie, csrf }: Person, choice: Choice = {}) {
  const { scopes = ['customers:read', 'orders:read'], mode = 'live', decision = 'allow' } = choice;
  const form = new URLSearchParams({ csrf: choice.csrf ?? csrf, mode, decision, lifetime: '30' });
  for (const scope of scopes) form.append('scope', scope);
  const response = await fetch(`${url}/settings/authorize${query}`, {
    method: 'POST',
    redirect: 'manual',
    body: form,
    headers: { cookie, origin: url },
  });
  const location = response.headers.get('location');
  return { ...(await answerOf(response)), to: location === null ? undefined : new URL(location) };
}

/** The id of a registered app; without a request, since an address may make few. */
export async function registered({ control }: TestGateway, redirect_uris = [CALLBACK]): Promise<string> {
  const input = { name: 'Helper', redirect_uris, authentication: 'none' } as const;
  return (await control.apps.clients.register(input, '192.0.2.1')).client._id;
}

/** A registered app with the code that somebody gave it. */
export async function allowed(at: TestGateway, person: Person, choice: Choice = {}) {
  const clientId = await registered(at);
  const secret = verifier();
  const query = requestQuery(clientId, challengeFor(secret));
  const { to } = await decide(at, query, person, choice);
  const code = to?.searchParams.get('code') ?? '';
  const exchange = (more: Record<string, string | undefined> = {}, where: At = at) =>
    post(where, 'token', {
      grant_type: 'authorization_code',
      client_id: clientId,
      code,
      redirect_uri: CALLBACK,
      code_verifier: secret,
      ...more,
    });
  const refresh = (token: string, more: Record<string, string | undefined> = {}) =>
    post(at, 'token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: token, ...more });
  return { clientId, code, exchange, refresh };
}

/** The status of a request with a token. */
export const statusWith = async ({ url }: At, token: string, path = '/api/v1/me'): Promise<number> =>
  (await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })).status;
