import { parseRefreshToken, writeRefreshToken } from '../../src/auth/appTokens';
import { DEFAULT_APP_KEY_PREFIX, newSecret } from '../../src/auth/keys';
import { eventually } from '../api/http/eventually';
import { startGateway } from '../support/gateway';
import {
  allowed,
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
import { useOffice } from '../admin/settings/people';

/* Apps that connect by OAuth (docs/decisions/oauth.md): what they get, and when it ends, also for attackers. */

const { gateway, organisation, admin } = useOffice();

/** A connected app with its tokens. */
async function connected(choice?: Parameters<typeof allowed>[2]) {
  const app = await allowed(gateway, admin, choice);
  const { body } = await app.exchange();
  return { ...app, access: body.access_token as string, refreshToken: body.refresh_token as string, body };
}

/** The newest key, which is that of the app that was allowed last, and a change of its row. */
const lastKey = async () => (await admin.call('keys', { limit: 1 })).data[0];
const changeLast = async (change: object): Promise<unknown> => {
  const rows = gateway.databases.control.collection<{ _id: string }>('api_keys');
  return rows.updateOne({ _id: (await lastKey()).id }, change);
};
const ago = (ms: number): Date => new Date(Date.now() - ms);
const INVALID_GRANT = { status: 400, body: { error: 'invalid_grant' } };

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
      issuer: gateway.url,
      code_challenge_methods_supported: ['S256'],
      registration_endpoint: `${gateway.url}/oauth/register`,
      token_endpoint: `${gateway.url}/oauth/token`,
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
    const { id, expires_at, app, ...key } = await lastKey();
    expect({ app, ...key }).toMatchObject({
      kind: 'app',
      mcp: 'write',
      created_by: 'Ada',
      app: { host: 'app.example' },
    });
    const days = (Date.parse(expires_at) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29.9);
    const { data: events } = await admin.call('audit_events', { key_id: id, limit: 1 });
    expect(JSON.parse(events[0].details)).toMatchObject({ expires_at, app });
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
      grant_type: 'authorization_code',
      code: to?.searchParams.get('code') ?? '',
      redirect_uri: CALLBACK,
      code_verifier: secret,
    };
    const without = await post(gateway, 'token', { ...form, client_id: app.client_id });
    expect(without).toMatchObject({ status: 400, body: { error: 'invalid_client' } });
    const basic = (text: string) => ({ authorization: `Basic ${btoa(`${String(app.client_id)}:${text}`)}` });
    const wrong = await post(gateway, 'token', form, basic('wrong'));
    expect(wrong).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect(wrong.headers.get('www-authenticate')).toContain('Basic');
    const line = await eventually(() =>
      gateway.logs.find(({ path, status }) => path === '/oauth/token' && status === 401),
    );
    expect(line).toMatchObject({ code: 'unauthenticated', reason: 'unknown' });
    const { status, body } = await post(gateway, 'token', form, basic(app.client_secret));
    expect({ status, hasToken: 'access_token' in body }).toEqual({ status: 200, hasToken: true });
    const stranger = await post(gateway, 'revoke', { token: body.access_token }, basic('wrong'));
    expect(stranger).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect(stranger.headers.get('www-authenticate')).toBe(wrong.headers.get('www-authenticate'));
    const nothing = await post(gateway, 'revoke', { token: '' }, basic(app.client_secret));
    expect(nothing).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect(await statusWith(gateway, body.access_token)).toBe(200);
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
    expect(await refresh(refreshToken)).toMatchObject(INVALID_GRANT);
    await post(gateway, 'revoke', { token: other.access, client_id: other.clientId });
    expect(await statusWith(gateway, other.access)).toBe(401);
  });

  test('when an admin revokes the key, whose tokens cannot be renewed then', async () => {
    const { access, refreshToken, refresh } = await connected();
    const key = { key_id: (await lastKey()).id };
    for (const [operation, more] of [
      ['rotate_key', {}],
      ['update_key', { expires_at: '2100-01-01T00:00:00Z' }],
    ] as const)
      expect(await admin.call(operation, { ...key, ...more })).toMatchObject({ code: 'validation_failed' });
    await admin.call('revoke_key', key);
    expect(await statusWith(gateway, access)).toBe(401);
    expect((await refresh(refreshToken)).status).toBe(400);
  });

  test('with the hour of an access token, also for a gateway that has just accepted it', async () => {
    const { access } = await connected();
    expect(await statusWith(gateway, access)).toBe(200);
    await changeLast({ $set: { 'app.tokens.access_ends_at': ago(1000) } });
    expect(await statusWith(gateway, access)).toBe(401);
  });

  test('of a gateway that does not know the prefix, as the version before, and with a row without its app', async () => {
    const { access } = await connected();
    await using before = await startGateway({ KEY_PREFIX_APP: 'other_app_' });
    expect(await statusWith(before, access)).toBe(401);
    expect(await statusWith(gateway, access)).toBe(200);
    await changeLast({ $unset: { app: 1 } });
    expect(await statusWith(gateway, access)).toBe(401);
  });

  test('with OAUTH=off, for what is not renewed', async () => {
    await using off = await startGateway({ OAUTH: 'off' });
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
    expect(await exchange()).toMatchObject(INVALID_GRANT);
    expect(await statusWith(gateway, body.access_token)).toBe(401);
    expect((await refresh(body.refresh_token)).status).toBe(400);
    expect(app.code).toMatch(/^svc_app_code_/);
  });

  test('that is used twice ends nothing if another app shows it, or, after ten minutes, nobody knows its verifier', async () => {
    const { exchange } = await allowed(gateway, admin);
    const { body } = await exchange();
    const stranger = { client_id: await registered(gateway), code_verifier: undefined };
    expect(await exchange(stranger)).toMatchObject(INVALID_GRANT);
    await changeLast({ $set: { created_at: ago(600_000) } });
    expect(await exchange({ code_verifier: verifier() })).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    expect(await statusWith(gateway, body.access_token)).toBe(200);
    expect((await exchange()).status).toBe(400);
    expect(await statusWith(gateway, body.access_token)).toBe(401);
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
    const { id, expires_at } = await lastKey();
    expect(Date.parse(expires_at) - Date.now()).toBeLessThan(60_000);
    await changeLast({ $set: { expires_at: ago(1000) } });
    expect(await exchange()).toMatchObject(INVALID_GRANT);
    expect((await admin.call('key', { key_id: id })).state).toBe('expired');
  });
});

test('a code that is used twice at once gives access to nobody', async () => {
  const { apps, apiKeys } = gateway.control;
  const { code } = await allowed(gateway, admin);
  // both have read it before one spends it
  const shown = { clientId: undefined, verifier: undefined };
  const [first, second] = [
    await apps.ofCode(code, { ...shown, from: 'here' }),
    await apps.ofCode(code, { ...shown, from: 'there' }),
  ];
  expect([await apps.redeem(first!, 'here'), await apps.redeem(second!, 'there')]).toEqual([true, false]);
  expect(await apps.begin(first!)).toBeUndefined();
  expect(apiKeys.stateOf((await apiKeys.find(first!._id))!)).toBe('revoked');
});

describe('a refresh token', () => {
  test('before the last but one ends the connection', async () => {
    const { refreshToken, refresh } = await connected();
    const { body: second } = await refresh(refreshToken);
    const { body: third } = await refresh(second.refresh_token);
    expect(await statusWith(gateway, third.access_token)).toBe(200);
    expect(await refresh(refreshToken)).toMatchObject(INVALID_GRANT);
    expect(await statusWith(gateway, third.access_token)).toBe(401);
    const { data } = await admin.call('audit_events', { action: 'key.revoked', limit: 1 });
    expect(data[0]).toMatchObject({ actor_name: 'Helper' });
  });

  test('from outside the addresses of the key is none, and renews nothing', async () => {
    const { refreshToken, refresh } = await connected();
    const { id } = await lastKey();
    await admin.call('update_key', { key_id: id, allowed_ranges: ['203.0.113.0/24'] });
    const refused = await refresh(refreshToken);
    expect(refused).toMatchObject(INVALID_GRANT);
    const { body: unknown } = await refresh(`${refreshToken}x`);
    expect(refused.body).toEqual(unknown);
    await admin.call('update_key', { key_id: id, allowed_ranges: [] });
    expect((await refresh(refreshToken)).status).toBe(200);
  });

  test('of another app, or made up from the id of a key, changes nothing', async () => {
    const { access, refreshToken, refresh } = await connected();
    const other = await connected();
    expect(await other.refresh(refreshToken)).toMatchObject(INVALID_GRANT);
    const parts = parseRefreshToken(DEFAULT_APP_KEY_PREFIX, refreshToken)!;
    const forged = (changed: Partial<typeof parts>) =>
      writeRefreshToken(DEFAULT_APP_KEY_PREFIX, { ...parts, ...changed });
    for (const token of [forged({ family: newSecret() }), refreshToken.slice(0, -1)])
      expect((await refresh(token)).status).toBe(400);
    expect(await statusWith(gateway, access)).toBe(200);
    expect(await statusWith(gateway, refreshToken)).toBe(401);
    // who knows the connection's secret has had a token of it
    expect((await refresh(forged({ secret: newSecret() }))).status).toBe(400);
    expect(await statusWith(gateway, access)).toBe(401);
  });
});

test('an organisation that is suspended, or whose plan changes, is refused as with any key', async () => {
  const { access } = await connected();
  await gateway.control.organisations.setPlan(organisation.id, 'starter');
  expect(await statusWith(gateway, access)).toBe(403);
  await gateway.control.organisations.setPlan(organisation.id, 'integrations');
  expect(await statusWith(gateway, access)).toBe(200);
});
