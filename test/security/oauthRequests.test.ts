import { makeOrganisation } from '../support/factories';
import { startGateway } from '../support/gateway';
import {
  allowed,
  ask,
  CALLBACK,
  challengeFor,
  decide,
  post,
  register,
  registered,
  requestQuery,
  verifier,
} from '../support/oauthApp';
import { signIn, useOffice } from '../admin/settings/people';

/* What apps send without a key (docs/decisions/oauth.md): registrations, and requests for the consent of an admin. */

const { gateway, admin, member } = useOffice();
const challenge = challengeFor(verifier());

interface ClientRow {
  readonly _id: string;
  readonly [member: string]: unknown;
}
const clientsOf = (of: typeof gateway) => of.databases.control.collection<ClientRow>('oauth_clients');
/** An app that is registered for another minute. */
const rowOf = (_id: string, more: object = {}): ClientRow => ({
  _id,
  name: 'x',
  redirect_uris: [CALLBACK],
  authentication: 'none',
  secret: null,
  created_at: new Date(),
  allowed_at: null,
  ends_at: new Date(Date.now() + 60_000),
  ...more,
});

describe('a request for consent', () => {
  const asked = async (more: Record<string, string> = {}, id?: string) =>
    requestQuery(id ?? (await registered(gateway)), challenge, more);

  test('of nobody who has registered, or to another address, leads nowhere', async () => {
    const unknown = '00000000-0000-4000-8000-000000000000';
    const queries = [
      await asked({}, unknown),
      await asked({ redirect_uri: 'https://attacker.example/' }),
      await asked({ redirect_uri: `${CALLBACK}?more` }),
      `${await asked()}&redirect_uri=https://attacker.example/`,
      await asked({ state: 'x'.repeat(2000) }),
    ];
    for (const query of queries)
      for (const { status, headers } of [await ask(gateway, query, admin.cookie), await decide(gateway, query, admin)])
        expect({ status, to: headers.get('location') }).toEqual({ status: 400, to: null });
  });

  test.each([
    ['without PKCE', { code_challenge: '' }, 'code_challenge must be 43'],
    ['with plain PKCE', { code_challenge_method: 'plain' }, 'code_challenge_method must be S256'],
    ['for a token', { response_type: 'token' }, 'response_type must be code'],
    ['for another resource', { resource: 'https://other.example/mcp' }, 'resource must be'],
  ])('%s shows why and leads nowhere, even of an app that an admin has allowed', async (_what, more, why) => {
    const { clientId } = await allowed(gateway, admin);
    const query = await asked(more, clientId);
    for (const answer of [await ask(gateway, query, admin.cookie), await decide(gateway, query, admin)]) {
      expect({ status: answer.status, to: answer.headers.get('location') }).toEqual({ status: 400, to: null });
      expect(answer.body).toContain(why);
    }
  });

  test('is answered with its state and the issuer, also by a no', async () => {
    const query = await asked({ resource: `${gateway.url}/mcp` });
    const yes = await decide(gateway, query, admin);
    expect(Object.fromEntries(yes.to!.searchParams)).toMatchObject({ state: 'a state', iss: gateway.url });
    const no = await decide(gateway, query, admin, { decision: 'deny' });
    expect(Object.fromEntries(no.to!.searchParams)).toMatchObject({ error: 'access_denied', state: 'a state' });
  });

  test('needs an admin, who has chosen scopes, on the page itself', async () => {
    const query = await asked({ scope: 'orders:read nothing:such' });
    const page = await ask(gateway, query, admin.cookie);
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self' https://app.example;");
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(page.body).toContain('<h1>Connect Helper (app.example)?</h1>');
    const long = { name: 'x'.repeat(41), redirect_uris: [CALLBACK], authentication: 'none' } as const;
    const { client } = await gateway.control.apps.clients.register(long, '192.0.2.1');
    const shortened = `<h1>Connect ${'x'.repeat(39)}… (`;
    expect((await ask(gateway, await asked({}, client._id), admin.cookie)).body).toContain(shortened);
    expect(page.body).toMatch(/value="orders:read" checked/);
    expect(page.body).not.toMatch(/value="customers:read" checked/);
    // what apps ask for wherever they connect is nothing in particular here
    const usual = await ask(gateway, await asked({ scope: ' offline_access openid' }), admin.cookie);
    expect(usual.body).toContain('It asks for nothing in particular');
    expect(usual.body).toMatch(/value="customers:read" checked/);
    const none = await decide(gateway, await asked({ scope: '' }), admin, { scopes: [] });
    expect(none.body).toContain('Choose at least one thing');
    expect(none.body).not.toMatch(/name="scope"[^>]* checked/);
    expect((await ask(gateway, query, member.cookie)).body).not.toContain('Allow');
    const stranger = await ask(gateway, query);
    expect(stranger.headers.get('location')).toBe('/settings/sign-in');
    expect(stranger.headers.get('set-cookie')).toContain('scopegate_wanted');
    expect(await decide(gateway, query, member)).toMatchObject({ status: 403, to: undefined });
    // a form that another tab has left behind is asked anew, as it was filled in
    for (const decision of ['allow', 'deny'] as const) {
      const old = await decide(gateway, query, admin, { csrf: 'x', decision, scopes: ['orders:read'], mode: 'test' });
      expect(old).toMatchObject({ status: 403, to: undefined });
      expect(old.body).toContain('Nothing was decided');
      expect(old.body).toContain(`name="csrf" value="${admin.csrf}"`);
      const form = old.body.replaceAll(/\s+/g, ' ');
      expect(form.match(/name="scope" value="[\w:]+" checked/g)).toEqual(['name="scope" value="orders:read" checked']);
      expect(form).toContain('value="test" required checked');
    }
    expect(await decide(gateway, query, admin, { scopes: [] })).toMatchObject({ status: 422, to: undefined });
  });

  test('says why a plan or the number of keys does not allow it', async () => {
    await using small = await startGateway({ MAX_KEYS: '1' });
    const starter = await makeOrganisation(small, { plan: 'starter' });
    const owner = await signIn(small, starter, 'admin');
    const query = await asked();
    const live = await decide(small, query, owner);
    expect(live.status).toBe(422);
    expect(live.body).toContain('the plan does not include API access');
    const first = await decide(small, query, owner, { mode: 'test' });
    expect(first.to?.searchParams.has('code')).toBe(true);
    expect((await decide(small, query, owner, { mode: 'test' })).body).toContain('the most it may have');
  });
});

describe('a registration', () => {
  test('may name this machine with any port, and a scheme of the app', async () => {
    const id = await registered(gateway, ['http://127.0.0.1:1234/callback', 'cursor://app/callback']);
    for (const redirect_uri of ['http://127.0.0.1:9/callback', 'cursor://app/callback']) {
      const { to } = await decide(gateway, requestQuery(id, challenge, { redirect_uri }), admin);
      expect(to?.href).toContain(`${redirect_uri}?code=svc_app_code_`);
    }
    const other = requestQuery(id, challenge, { redirect_uri: 'http://127.0.0.1:9/other' });
    expect((await decide(gateway, other, admin)).status).toBe(400);
  });

  test('of many from one address: ten a minute are read, and a thousand that nobody allowed are kept', async () => {
    await using own = await startGateway();
    const clients = clientsOf(own);
    await clients.deleteMany({});
    const old = (at: number) => ({ created_at: new Date(at), allowed_at: at === 0 ? new Date() : null });
    await clients.insertMany(Array.from({ length: 1001 }, (_, at) => rowOf(`old ${String(at)}`, old(at))));
    const statuses = await Promise.all(Array.from({ length: 100 }, async () => (await register(own)).status));
    expect(statuses.filter((status) => status === 201)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(90);
    expect(await clients.countDocuments({ allowed_at: null })).toBe(1000);
    expect(await clients.countDocuments({ _id: 'old 0' })).toBe(1);
    // those of the busiest address went first, so that who floods crowds out itself
    expect(await clients.countDocuments({ registered_from: { $exists: true } })).toBe(10);
    const large = await fetch(`${own.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ code: 'x'.repeat(9000) }),
    });
    expect(large.status).toBe(413);
  });
});

test('an app about which an admin is asked stays registered, whoever registers more meanwhile', async () => {
  await using own = await startGateway();
  const owner = await signIn(own, await makeOrganisation(own), 'admin');
  const clients = clientsOf(own);
  await clients.deleteMany({});
  const [shown, allowedOne, other] = [await registered(own), await registered(own), await registered(own)];
  await clients.updateMany({}, { $set: { created_at: new Date(0), ends_at: new Date(Date.now() + 60_000) } });
  await ask(own, requestQuery(shown, challenge), owner.cookie);
  await decide(own, requestQuery(allowedOne, challenge), owner);
  // the registrations of the flood come from as many addresses
  const from = (at: number) => ({ registered_from: String(at) });
  await clients.insertMany(Array.from({ length: 1000 }, (_, at) => rowOf(`new ${String(at)}`, from(at))));
  await register(own);
  const ends = async (id: string): Promise<number> => ((await clients.findOne({ _id: id }))?.ends_at as Date).getTime();
  expect(await clients.countDocuments({ _id: other })).toBe(0);
  expect(await ends(shown)).toBeGreaterThan(Date.now() + 3_500_000);
  expect(await ends(allowedOne)).toBeGreaterThan(Date.now() + 86_000_000);
});

test('what anyone may send is limited by address', async () => {
  await using own = await startGateway({ RATE_LIMIT_PER_MINUTE: '3' });
  const calls = [
    () => post(own, 'token', { grant_type: 'refresh_token', refresh_token: 'x', client_id: 'x' }),
    () => ask(own, '?client_id=x'),
  ];
  for (const call of calls) {
    const statuses: number[] = [];
    for (let at = 0; at < 4; at += 1) statuses.push((await call()).status);
    expect(statuses).toEqual([400, 400, 400, 429]);
  }
  const { body, headers } = await calls[0]!();
  expect(body.error).toBe('temporarily_unavailable');
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
});
