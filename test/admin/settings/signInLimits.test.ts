import { createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Organisation } from '../../../src/auth/principal';
import type * as Clock from '../../../src/mongo/clock';
import { makeOrganisation } from '../../support/factories';
import { startGateway, type TestGateway } from '../../support/gateway';
import { cookieOf, makeLink, person, sendLink } from './people';

/* What a stranger can make the settings do: at most the limit of an address in lookups, transactions and requests to the issuer. */

/** How far the clock of the database is ahead, in milliseconds; not by a shift of performance.now(), which the next measurement would undo. */
let mockAhead = 0;
jest.mock('../../../src/mongo/clock', () => {
  const actual = jest.requireActual<typeof Clock>('../../../src/mongo/clock');
  const createClock = (): ReturnType<typeof Clock.createClock> => {
    const clock = actual.createClock();
    return { ...clock, now: () => clock.now() + mockAhead };
  };
  return { ...actual, createClock };
});

const LIMIT = 5;
const PAGE = '/settings/integrations';
const CALLBACK = '/settings/sign-in/oidc/callback';
const secret = 'a secret of the client and its issuer';

const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });

let gateway: TestGateway;
let organisation: Organisation;
let issuer: Server;
/** Requests for tokens so far. */
let tokensAsked = 0;
let lastAddress = 0;

beforeAll(async () => {
  issuer = createServer((request, response) => {
    void answer(request).then(([status, body]) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await once(issuer.listen(0, '127.0.0.1'), 'listening');
  gateway = await startGateway({
    RATE_LIMIT_PER_MINUTE: String(LIMIT),
    TRUST_PROXY: '1',
    OIDC_ISSUER: issuerUrl(),
    OIDC_CLIENT_ID: 'scopegate',
    OIDC_CLIENT_SECRET: secret,
    PUBLIC_URL: 'http://127.0.0.1:4000',
  });
  organisation = await makeOrganisation(gateway);
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  await gateway.stop();
  issuer.close();
  issuer.closeAllConnections();
});

/** What the issuer takes as a code are the claims that its token has to carry. */
const codeOf = (claims: object): string => Buffer.from(JSON.stringify(claims)).toString('base64url');
const UNKNOWN = 'x';

async function answer(request: IncomingMessage): Promise<[status: number, body: object]> {
  const url = issuerUrl();
  if (request.url === '/keys')
    return [200, { keys: [{ ...keys.publicKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig' }] }];
  if (request.url !== '/token') {
    const endpoints = {
      authorization_endpoint: `${url}/auth`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/keys`,
    };
    return [200, { issuer: url, ...endpoints }];
  }
  tokensAsked += 1;
  const code = new URLSearchParams(await text(request)).get('code')!;
  if (code === UNKNOWN) return [400, { error: 'invalid_grant' }];
  const claims = JSON.parse(Buffer.from(code, 'base64url').toString()) as object;
  const now = Math.floor(Date.now() / 1000);
  const id_token = signed({ ...claims, iss: url, aud: 'scopegate', iat: now, exp: now + 60 });
  return [200, { access_token: 'x', token_type: 'bearer', id_token }];
}

function issuerUrl(): string {
  return `http://127.0.0.1:${String((issuer.address() as AddressInfo).port)}`;
}

function signed(claims: object): string {
  const parts = [{ alg: 'RS256' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${parts}.${createSign('RSA-SHA256').update(parts).sign(keys.privateKey, 'base64url')}`;
}

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
  const back = (state: string, cookie: string, from: Record<string, string>, code = UNKNOWN): Promise<Response> =>
    ask(`${CALLBACK}?code=${code}&state=${state}`, { ...from, cookie: `scopegate_sign_in=${cookie}` });

  async function begin(from: Record<string, string>): Promise<{ state: string; nonce: string; cookie: string }> {
    const begun = await ask('/settings/sign-in/oidc', from);
    const { searchParams } = new URL(begun.headers.get('location')!);
    return {
      state: searchParams.get('state')!,
      nonce: searchParams.get('nonce')!,
      cookie: cookieOf(begun).replace('scopegate_sign_in=', ''),
    };
  }

  /** Comes back with a code for these claims, as Ada, an admin, if they do not say otherwise. */
  async function identified(claims: object): Promise<Response> {
    const { state, nonce, cookie } = await begin(fromElsewhere());
    const ada = { sub: 'ada', name: 'Ada', scopegate_organisation: organisation.id, scopegate_role: 'admin' };
    return back(state, cookie, fromElsewhere(), codeOf({ ...ada, nonce, ...claims }));
  }

  test.each([
    [{}, 'admin', 'Ada'],
    [{ sub: 'max', name: 'Max', scopegate_role: ['guest', 'member'] }, 'member', 'Max'],
    [{ sub: 'both', name: undefined, scopegate_role: ['member', 'admin'] }, 'admin', 'both'],
  ])('with a code that it takes signs in whom its claims name: %j is %s %s', async (claims, role, name) => {
    const answered = await identified(claims);
    expect([answered.status, answered.headers.get('location')]).toEqual([303, PAGE]);
    const there = await person(gateway, cookieOf(answered));
    const actor = `user:oidc:${'sub' in claims ? claims.sub : 'ada'}`;
    expect((await there.call('audit_events', { limit: 1 })).data).toMatchObject([
      { action: 'user.signed_in', actor, actor_name: name, details: JSON.stringify({ role }) },
    ]);
  });

  test.each([
    [{ scopegate_role: undefined }, 'scopegate_role'],
    [{ scopegate_role: 'owner' }, 'scopegate_role'],
    [{ scopegate_organisation: undefined }, 'scopegate_organisation'],
    [{ scopegate_organisation: 'Test' }, 'scopegate_organisation'],
    [{ scopegate_organisation: '00000000-0000-4000-8000-000000000000' }, 'returned an unknown organisation'],
    [{ nonce: 'y'.repeat(43) }, 'did not sign you in'],
  ])('with the claims %j is rejected with the reason', async (claims, reason) => {
    const answered = await identified(claims);
    expect([answered.status, answered.headers.getSetCookie().join().includes('scopegate_session=')]).toEqual([
      ...[403, false],
    ]);
    expect(await answered.text()).toContain(reason);
  });

  test('with an attempt that is not ours, changed, over or another one asks the issuer nothing', async () => {
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
    // that of another browser, or of an earlier attempt of this one
    expect((await back((await begin(from)).state, cookie, from)).status).toBe(403);
    mockAhead = 600_001;
    expect((await back(state, cookie, from)).status).toBe(403);
    mockAhead = 0;
    expect(tokensAsked).toBe(before);
    // the clock of the machine is wrong
    jest.spyOn(Date, 'now').mockReturnValue(Number(parts[3]) + 1);
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
