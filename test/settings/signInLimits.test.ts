import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Organisation } from '../../src/access/principal';
import { makeOrganisation } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';
import { cookieOf, makeLink, sendLink } from './people';

/* What a stranger can make the settings do: at most the limit of an address in lookups, transactions and requests to the issuer. */

const LIMIT = 5;
const PAGE = '/settings/integrations';
const CALLBACK = '/settings/sign-in/oidc/callback';
const secret = 'a secret of the client and its issuer';

let gateway: TestGateway;
let organisation: Organisation;
let issuer: Server;
/** Requests for tokens so far. */
let tokensAsked = 0;
let lastAddress = 0;

beforeAll(async () => {
  issuer = createServer((request, response) => {
    const url = `http://127.0.0.1:${String((issuer.address() as AddressInfo).port)}`;
    const endpoints = {
      authorization_endpoint: `${url}/auth`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/keys`,
    };
    const isToken = request.url === '/token';
    if (isToken) tokensAsked += 1;
    response.writeHead(isToken ? 400 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isToken ? { error: 'invalid_grant' } : { issuer: url, ...endpoints }));
  });
  await once(issuer.listen(0, '127.0.0.1'), 'listening');
  gateway = await startGateway({
    ...{ RATE_LIMIT_PER_MINUTE: String(LIMIT), TRUST_PROXY: '1' },
    OIDC_ISSUER: `http://127.0.0.1:${String((issuer.address() as AddressInfo).port)}`,
    ...{ OIDC_CLIENT_ID: 'scopegate', OIDC_CLIENT_SECRET: secret, PUBLIC_URL: 'http://127.0.0.1:4000' },
  });
  organisation = await makeOrganisation(gateway);
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  await gateway.stop();
  issuer.close();
  issuer.closeAllConnections();
});

/** Headers of requests from an address of their own. */
const fromElsewhere = (): Record<string, string> => ({ 'x-forwarded-for': `192.0.2.${String((lastAddress += 1))}` });
const token = (): string => randomBytes(32).toString('base64url');
const ask = (path: string, headers: Record<string, string>): Promise<Response> =>
  fetch(gateway.url + path, { headers, redirect: 'manual' });
const times = (count: number): undefined[] => Array.from({ length: count }, () => undefined);

async function statuses(answers: readonly Promise<Response>[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(answers)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

test('invalid links from an address begin as many transactions as its limit, however many come at once', async () => {
  const useLink = jest.spyOn(gateway.control.sessions, 'useLink');
  const from = fromElsewhere();
  expect(await statuses(times(40).map(() => sendLink(gateway, token(), from)))).toEqual({
    410: LIMIT,
    429: 40 - LIMIT,
  });
  expect(useLink).toHaveBeenCalledTimes(LIMIT);
  const refused = await sendLink(gateway, token(), from);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await sendLink(gateway, await makeLink(gateway, organisation), fromElsewhere())).status).toBe(303);
});

test('valid links are not counted', async () => {
  const from = fromElsewhere();
  for (const _ of times(LIMIT + 3))
    expect((await sendLink(gateway, await makeLink(gateway, organisation), from)).status).toBe(303);
  expect((await sendLink(gateway, token(), from)).status).toBe(410);
});

test('invalid cookies from an address are looked up as often as its limit, and whoever is signed in there stays so', async () => {
  const find = jest.spyOn(gateway.control.sessions, 'find');
  const from = fromElsewhere();
  const entered = await sendLink(gateway, await makeLink(gateway, organisation), from);
  const cookie = cookieOf(entered);
  expect((await ask(PAGE, { ...from, cookie })).status).toBe(200);
  find.mockClear();
  const invalid = (): Promise<Response> => ask(PAGE, { ...from, cookie: `scopegate_session=${token()}` });
  expect(await statuses(times(40).map(invalid))).toEqual({ 303: LIMIT, 429: 40 - LIMIT });
  expect(find).toHaveBeenCalledTimes(LIMIT);
  for (const _ of times(LIMIT + 3)) expect((await ask(PAGE, { ...from, cookie })).status).toBe(200);
  // nor are people kept from signing in, or out
  expect((await sendLink(gateway, await makeLink(gateway, organisation), from)).status).toBe(303);
  expect((await ask(PAGE, from)).status).toBe(303);
});

test('failed authentications of a program do not keep people at its address from signing in', async () => {
  const from = fromElsewhere();
  for (const _ of times(LIMIT + 1)) await ask('/api/v1/me', from);
  expect((await ask('/api/v1/me', from)).status).toBe(429);
  expect((await sendLink(gateway, await makeLink(gateway, organisation), from)).status).toBe(303);
});

describe('returning from the identity provider', () => {
  const back = (state: string, cookie: string, from: Record<string, string>): Promise<Response> =>
    ask(`${CALLBACK}?code=x&state=${state}`, { ...from, cookie: `scopegate_sign_in=${cookie}` });

  async function begin(from: Record<string, string>): Promise<{ state: string; cookie: string }> {
    const begun = await ask('/settings/sign-in/oidc', from);
    const state = new URL(begun.headers.get('location')!).searchParams.get('state')!;
    return { state, cookie: cookieOf(begun).replace('scopegate_sign_in=', '') };
  }

  test('with an attempt that is not ours, changed or over asks the issuer nothing', async () => {
    const from = fromElsewhere();
    const { state, cookie } = await begin(from);
    const [before, parts] = [tokensAsked, cookie.split('.')];
    const changed = (at: number, to: string): string => parts.with(at, to).join('.');
    const made = [state, token(), token()].join('.');
    const later = String(Number(parts[3]) + 600_000);
    for (const own of [
      ...[made, `${made}.${parts[3]!}.${token()}`, changed(0, token()), changed(1, token()), changed(2, token())],
      ...[changed(3, later), changed(4, token()), `${cookie}x`, ''],
    ])
      expect((await back(own.split('.')[0]!, own, from)).status).toBe(403);
    jest.spyOn(Date, 'now').mockReturnValue(Number(parts[3]) + 1);
    expect((await back(state, cookie, from)).status).toBe(403);
    jest.restoreAllMocks();
    expect(tokensAsked).toBe(before);
    expect((await back(state, cookie, from)).status).toBe(403);
    expect(tokensAsked).toBe(before + 1);
  });

  test('asks the issuer as often as the limit of the address, also with one attempt many times', async () => {
    const from = fromElsewhere();
    const { state, cookie } = await begin(from);
    const before = tokensAsked;
    expect(await statuses(times(40).map(() => back(state, cookie, from)))).toEqual({ 403: LIMIT, 429: 40 - LIMIT });
    expect(tokensAsked).toBe(before + LIMIT);
    expect((await back(state, cookie, fromElsewhere())).status).toBe(403);
  });
});
