import { makeOrganisation } from '../support/factories';
import { startGateway } from '../support/gateway';
import {
  allowed,
  ask,
  CALLBACK,
  challengeFor,
  decide,
  get,
  post,
  register,
  registered,
  requestQuery,
  statusWith,
  verifier,
} from '../support/oauthApp';
import { signIn, useOffice } from '../admin/settings/people';

/* Apps that connect by OAuth (docs/decisions/oauth.md): what works, and what attackers try. */

const { gateway, organisation, admin, member } = useOffice({ CONTROL_DATABASE: 'scopegate_oauth' });
const challenge = challengeFor(verifier());

/** A connected app with its tokens. */
async function connected(choice?: Parameters<typeof allowed>[2]) {
  const app = await allowed(gateway, admin, choice);
  const { body } = await app.exchange();
  return { ...app, access: body.access_token as string, refreshToken: body.refresh_token as string, body };
}

describe('an app', () => {
  test('is led from a 401 to the metadata of the resource and of the server', async () => {
    const { headers } = await get(`${gateway.url}/mcp`).then(() =>
      fetch(`${gateway.url}/mcp`, { method: 'POST', body: '{}' }),
    );
    const [, url = ''] = /^Bearer resource_metadata="(.+)"$/.exec(headers.get('www-authenticate') ?? '') ?? [];
    const { body: resource } = await get(url);
    expect(resource).toMatchObject({ resource: `${gateway.url}/mcp`, authorization_servers: [gateway.url] });
    expect(resource.scopes_supported).toContain('orders:read');
    expect(resource.scopes_supported).not.toContain('products:write');
    const { body: server } = await get(`${gateway.url}/.well-known/oauth-authorization-server`);
    expect(server).toMatchObject({
      ...{ issuer: gateway.url, code_challenge_methods_supported: ['S256'] },
      ...{ registration_endpoint: `${gateway.url}/oauth/register`, token_endpoint: `${gateway.url}/oauth/token` },
    });
    const rest = await fetch(`${gateway.url}/api/v1/me`);
    expect(rest.headers.get('www-authenticate')).toContain('/.well-known/oauth-protected-resource"');
  });

  test('gets a key of kind app, with the scopes, mode and end that an admin chose', async () => {
    const { body, access } = await connected({ scopes: ['orders:read', 'products:write'] });
    expect(body).toMatchObject({ token_type: 'Bearer', scope: 'orders:read products:write' });
    expect(body.expires_in).toBeGreaterThan(3500);
    expect(access).toMatch(/^svc_app_/);
    const me = await fetch(`${gateway.url}/api/v1/me`, { headers: { authorization: `Bearer ${access}` } });
    expect(await me.json()).toMatchObject({ key: { name: 'Helper', scopes: ['orders:read', 'products:write'] } });
    expect(await statusWith(gateway, access, '/api/v1/customers')).toBe(403);
    const { data } = await admin.call('keys', { limit: 1 });
    expect(data[0]).toMatchObject({ kind: 'app', mcp: 'write', created_by: 'Ada', app: { host: 'app.example' } });
    const days = (Date.parse(data[0].expires_at) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29.9);
    const { data: events } = await admin.call('audit_events', { key_id: data[0].id, limit: 1 });
    expect(JSON.parse(events[0].details)).toMatchObject({ expires_at: data[0].expires_at, app: data[0].app });
  });

  test('gets the sandbox alone, if an admin chose that', async () => {
    const { access } = await connected({ mode: 'test' });
    const { headers } = await fetch(`${gateway.url}/api/v1/orders?limit=1`, {
      headers: { authorization: `Bearer ${access}` },
    });
    expect(headers.get('scopegate-mode')).toBe('test');
  });

  test('with a secret must show it, in a header or in the form', async () => {
    const secret = verifier();
    const { body: app } = await register(gateway, { token_endpoint_auth_method: 'client_secret_basic' });
    const query = requestQuery(app.client_id, challengeFor(secret));
    const { to } = await decide(gateway, query, admin);
    const form = {
      ...{ grant_type: 'authorization_code', code: to?.searchParams.get('code') ?? '' },
      ...{ redirect_uri: CALLBACK, code_verifier: secret },
    };
    const without = await post(gateway, 'token', { ...form, client_id: app.client_id });
    expect(without).toMatchObject({ status: 400, body: { error: 'invalid_client' } });
    const basic = (text: string) => ({ authorization: `Basic ${btoa(`${String(app.client_id)}:${text}`)}` });
    const wrong = await post(gateway, 'token', form, basic('wrong'));
    expect(wrong).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect(wrong.headers.get('www-authenticate')).toContain('Basic');
    const { status, body } = await post(gateway, 'token', form, basic(app.client_secret));
    expect({ status, hasToken: 'access_token' in body }).toEqual({ status: 200, hasToken: true });
  });

  test('renews its access: the access token before ends, and the same answer is given again for a minute', async () => {
    const { access, refreshToken, refresh } = await connected();
    const [first, again] = await Promise.all([refresh(refreshToken), refresh(refreshToken)]);
    expect(first.status).toBe(200);
    expect({ ...again.body, expires_in: 0 }).toEqual({ ...first.body, expires_in: 0 });
    expect(await statusWith(gateway, access)).toBe(401);
    expect(await statusWith(gateway, first.body.access_token)).toBe(200);
    expect(await refresh(first.body.refresh_token)).toMatchObject({ status: 200 });
  });
});

describe('access ends at once', () => {
  test('when the app revokes a token of its own', async () => {
    const { access, refreshToken, clientId, refresh } = await connected();
    const other = await connected();
    await post(gateway, 'revoke', { token: access, client_id: other.clientId });
    expect(await statusWith(gateway, access)).toBe(200);
    expect(await post(gateway, 'revoke', { token: refreshToken, client_id: clientId })).toMatchObject({ status: 200 });
    expect(await statusWith(gateway, access)).toBe(401);
    expect(await refresh(refreshToken)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    await post(gateway, 'revoke', { token: other.access, client_id: other.clientId });
    expect(await statusWith(gateway, other.access)).toBe(401);
  });

  test('when an admin revokes the key, whose tokens cannot be renewed then', async () => {
    const { access, refreshToken, refresh } = await connected();
    const { data } = await admin.call('keys', { limit: 1 });
    for (const [operation, more] of [
      ['rotate_key', {}],
      ['update_key', { expires_at: '2100-01-01T00:00:00Z' }],
    ] as const)
      expect(await admin.call(operation, { key_id: data[0].id, ...more })).toMatchObject({ code: 'validation_failed' });
    await admin.call('revoke_key', { key_id: data[0].id });
    expect(await statusWith(gateway, access)).toBe(401);
    expect((await refresh(refreshToken)).status).toBe(400);
  });

  test('with the hour of an access token, also for a gateway that has just accepted it', async () => {
    const { access } = await connected();
    expect(await statusWith(gateway, access)).toBe(200);
    const { data } = await admin.call('keys', { limit: 1 });
    const rows = gateway.databases.control.collection<{ _id: string }>('api_keys');
    await rows.updateOne({ _id: data[0].id }, { $set: { 'app.tokens.access_ends_at': new Date(Date.now() - 1000) } });
    expect(await statusWith(gateway, access)).toBe(401);
  });

  test('of a gateway that does not know the prefix, as the version before, and with a row without its app', async () => {
    const { access } = await connected();
    await using before = await startGateway({ CONTROL_DATABASE: 'scopegate_oauth', KEY_PREFIX_APP: 'other_app_' });
    expect(await statusWith(before, access)).toBe(401);
    expect(await statusWith(gateway, access)).toBe(200);
    const { data } = await admin.call('keys', { limit: 1 });
    const rows = gateway.databases.control.collection<{ _id: string }>('api_keys');
    await rows.updateOne({ _id: data[0].id }, { $unset: { app: 1 } });
    expect(await statusWith(gateway, access)).toBe(401);
  });

  test('with OAUTH=off, for what is not renewed', async () => {
    await using off = await startGateway({ CONTROL_DATABASE: 'scopegate_oauth', OAUTH: 'off' });
    const { status, headers } = await fetch(`${off.url}/mcp`, { method: 'POST' });
    expect({ status, challenge: headers.get('www-authenticate') }).toEqual({ status: 401, challenge: 'Bearer' });
    for (const path of ['/.well-known/oauth-authorization-server', '/settings/authorize', '/oauth/token'])
      expect((await get(off.url + path)).status).toBe(404);
  });
});

describe('a code', () => {
  test('that is used twice ends what came of it', async () => {
    const { exchange, refresh, ...app } = await allowed(gateway, admin);
    const { body } = await exchange();
    expect(await statusWith(gateway, body.access_token)).toBe(200);
    expect(await exchange()).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await statusWith(gateway, body.access_token)).toBe(401);
    expect((await refresh(body.refresh_token)).status).toBe(400);
    expect(app.code).toMatch(/^svc_app_code_/);
  });

  test.each([
    ['by another app', async () => ({ client_id: await registered(gateway) })],
    ['with another verifier', () => Promise.resolve({ code_verifier: verifier() })],
    ['without a verifier', () => Promise.resolve({ code_verifier: undefined })],
    ['with another address', () => Promise.resolve({ redirect_uri: `${CALLBACK}/other` })],
    ['for another resource', () => Promise.resolve({ resource: 'https://other.example/mcp' })],
  ])('is refused %s', async (_how, change) => {
    const { exchange } = await allowed(gateway, admin);
    const { status, body } = await exchange(await change());
    expect(status).toBe(400);
    expect(body.error).toMatch(/^invalid_(grant|request|target)$/);
  });

  test('whose minute is over is refused, and its key has ended', async () => {
    const { exchange } = await allowed(gateway, admin);
    const { data } = await admin.call('keys', { limit: 1 });
    expect(Date.parse(data[0].expires_at) - Date.now()).toBeLessThan(60_000);
    const rows = gateway.databases.control.collection<{ _id: string }>('api_keys');
    await rows.updateOne({ _id: data[0].id }, { $set: { expires_at: new Date(Date.now() - 1000) } });
    expect(await exchange()).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await admin.call('key', { key_id: data[0].id })).state).toBe('expired');
  });
});

describe('a refresh token', () => {
  test('before the last but one ends the connection', async () => {
    const { refreshToken, refresh } = await connected();
    const { body: second } = await refresh(refreshToken);
    const { body: third } = await refresh(second.refresh_token);
    expect(await statusWith(gateway, third.access_token)).toBe(200);
    expect(await refresh(refreshToken)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await statusWith(gateway, third.access_token)).toBe(401);
    const { data } = await admin.call('audit_events', { action: 'key.revoked', limit: 1 });
    expect(data[0]).toMatchObject({ actor_name: 'Helper' });
  });

  test('of another app, or made up from the id of a key, changes nothing', async () => {
    const { access, refreshToken, refresh } = await connected();
    const other = await connected();
    expect(await other.refresh(refreshToken)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    const family = refreshToken.slice(0, -44);
    const forged = [`${family}_${'0'.repeat(43)}`, refreshToken.slice(0, -1), `${family.slice(0, -1)}_x`];
    for (const token of forged.slice(1)) expect((await refresh(token)).status).toBe(400);
    expect(await statusWith(gateway, access)).toBe(200);
    expect(await statusWith(gateway, refreshToken)).toBe(401);
    // who knows the connection's secret has had a token of it
    expect((await refresh(forged[0]!)).status).toBe(400);
    expect(await statusWith(gateway, access)).toBe(401);
  });
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
    ['without PKCE', { code_challenge: '' }, 'invalid_request'],
    ['with plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['for a token', { response_type: 'token' }, 'unsupported_response_type'],
    ['for another resource', { resource: 'https://other.example/mcp' }, 'invalid_target'],
  ])('%s goes back to the app with an error, its state and the issuer', async (_what, more, error) => {
    const { status, headers } = await ask(gateway, await asked(more), admin.cookie);
    const to = new URL(headers.get('location') ?? '');
    expect({ status, address: to.origin + to.pathname }).toEqual({ status: 303, address: CALLBACK });
    expect(Object.fromEntries(to.searchParams)).toMatchObject({ error, state: 'a state', iss: gateway.url });
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
    expect(page.body).toMatch(/value="orders:read" checked/);
    expect(page.body).not.toMatch(/value="customers:read" checked/);
    expect((await ask(gateway, query, member.cookie)).body).not.toContain('Allow');
    const stranger = await ask(gateway, query);
    expect(stranger.headers.get('location')).toBe('/settings/sign-in');
    expect(stranger.headers.get('set-cookie')).toContain('scopegate_wanted');
    expect(await decide(gateway, query, member)).toMatchObject({ status: 403, to: undefined });
    expect(await decide(gateway, query, admin, { csrf: 'x' })).toMatchObject({ status: 403, to: undefined });
    expect(await decide(gateway, query, admin, { scopes: [] })).toMatchObject({ status: 422, to: undefined });
  });

  test('says why a plan or the number of keys does not allow it', async () => {
    await using small = await startGateway({ CONTROL_DATABASE: 'scopegate_oauth', MAX_KEYS: '1' });
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

  test('of a thousand from one address: ten a minute are read, and the newest thousand that nobody allowed are kept', async () => {
    const CONTROL_DATABASE = 'scopegate_oauth_many';
    await using own = await startGateway({ CONTROL_DATABASE });
    const clients = own.databases.control.collection<{ _id: string; [member: string]: unknown }>('oauth_clients');
    const row = (at: number) => ({
      ...{ _id: `old ${String(at)}`, name: 'x', redirect_uris: [CALLBACK], authentication: 'none', secret: null },
      ...{ created_at: new Date(at), allowed_at: at === 0 ? new Date() : null, ends_at: new Date(Date.now() + 60_000) },
    });
    await clients.insertMany(Array.from({ length: 1001 }, (_, at) => row(at)));
    const statuses = await Promise.all(Array.from({ length: 1000 }, async () => (await register(own)).status));
    expect(statuses.filter((status) => status === 201)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(990);
    expect(await clients.countDocuments({ allowed_at: null })).toBe(1000);
    expect(await clients.countDocuments({ _id: 'old 0' })).toBe(1);
    const large = await fetch(`${own.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ code: 'x'.repeat(9000) }),
    });
    expect(large.status).toBe(413);
  });
});

test('what anyone may send is limited by address', async () => {
  await using own = await startGateway({ CONTROL_DATABASE: 'scopegate_oauth', RATE_LIMIT_PER_MINUTE: '3' });
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

test('an organisation that is suspended, or whose plan changes, is refused as with any key', async () => {
  const { access } = await connected();
  await gateway.control.organisations.setPlan(organisation.id, 'starter');
  expect(await statusWith(gateway, access)).toBe(403);
  await gateway.control.organisations.setPlan(organisation.id, 'integrations');
  expect(await statusWith(gateway, access)).toBe(200);
});
