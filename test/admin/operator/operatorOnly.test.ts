import { randomUUID } from 'node:crypto';
import { client, type Json } from '../../support/client';
import { served, withGateway } from '../../support/gateway';
import { organisationUsageId } from '../../../src/organisations/usageUnits';
import { DAY } from '../../../src/units';
import { operator, TOKENS } from './operator';

/* What belongs to an organisation: keys, sign-in links, webhooks and usage. */

const gateway = served({
  ...TOKENS,
  // its webhooks have a secret of their own
  CONTROL_DATABASE: 'scopegate_test_operator_only',
  WEBHOOK_SECRET: 'w'.repeat(32),
  WEBHOOK_ALLOWED_RANGES: '127.0.0.1/32',
  PUBLIC_URL: 'https://api.example.com',
  BRAND_HOME: 'https://acme.example.com/',
});
const caller = () => operator(gateway);
const create = async (more: object = {}): Promise<string> =>
  (await caller().post('/organisations', { name: 'Acme', ...more })).body.id;
const SHOP = { name: 'Shop', scopes: ['quotes:read'] };
const actionsOf = async (organisationId: string) =>
  (await gateway.control.audit.list({ organisationId, limit: 50 }))
    .filter(({ actor }) => actor.who === 'operator:billing')
    .map(({ action }) => action);
const HINT = { url: 'http://127.0.0.1:9/hook', types: ['order.created'] };

test('a key is created, listed without its value, rotated and revoked, and each is audited', async () => {
  const id = await create();
  const made = await caller().post(`/organisations/${id}/keys`, SHOP);
  expect([made.status, made.body.api_key.created_by]).toEqual([201, 'operator:billing']);
  const { key, api_key } = made.body;
  expect((await client(gateway, key).get('/me')).body.organisation.id).toBe(id);
  const listed = await caller().get(`/organisations/${id}/keys?state=active`);
  expect(listed.body.data).toEqual([expect.objectContaining({ id: api_key.id, name: 'Shop', state: 'active' })]);
  expect(JSON.stringify(listed.body)).not.toContain(key);
  const rotated = await caller().post(`/organisations/${id}/keys/${String(api_key.id)}/rotation`, { overlap_hours: 0 });
  expect([rotated.status, rotated.body.old.rotated_to]).toEqual([201, rotated.body.api_key.id]);
  expect((await client(gateway, key).get('/me')).status).toBe(401);
  expect((await client(gateway, rotated.body.key).get('/me')).status).toBe(200);
  // what is posted has no member that is required
  const usual = await caller().post(`/organisations/${id}/keys/${String(rotated.body.api_key.id)}/rotation`, undefined);
  expect([usual.status, usual.body.old.id]).toEqual([201, rotated.body.api_key.id]);
  await caller().remove(`/organisations/${id}/keys/${String(usual.body.api_key.id)}`);
  const revoked = await caller().remove(`/organisations/${id}/keys/${String(rotated.body.api_key.id)}`);
  expect([revoked.status, revoked.body.state]).toEqual([200, 'revoked']);
  expect((await client(gateway, rotated.body.key).get('/me')).status).toBe(401);
  expect(await actionsOf(id)).toEqual([
    ...['key.revoked', 'key.revoked', 'key.rotated', 'key.rotated', 'key.created', 'organisation.created'],
  ]);
});

test('for another organisation a key and a webhook get the 404 of ones that never existed', async () => {
  const [own, other] = [await create(), await create()];
  const key = (await caller().post(`/organisations/${own}/keys`, SHOP)).body.api_key.id as string;
  const webhook = (await caller().post(`/organisations/${own}/webhooks`, HINT)).body.endpoint.id as string;
  for (const [method, path, body] of [
    ['DELETE', `/keys/${key}`, undefined],
    ['POST', `/keys/${key}/rotation`, {}],
    ['DELETE', `/webhooks/${webhook}`, undefined],
  ] as const) {
    const foreign = await caller().call(method, `/organisations/${other}${path}`, body);
    const unknown = await caller().call(
      method,
      `/organisations/${other}${path.replace(/[0-9a-f-]{36}/, randomUUID())}`,
      body,
    );
    expect([foreign.status, foreign.body.detail]).toEqual([404, unknown.body.detail]);
  }
  expect((await caller().get(`/organisations/${own}/keys`)).body.data[0].state).toBe('active');
  expect((await caller().get(`/organisations/${other}/keys`)).body.data).toEqual([]);
  const { body } = await caller().get(`/organisations/${own}/keys?limit=1`);
  expect(body.next_cursor).toBeNull();
});

test('without API access keys and webhooks cannot be created, but keys can be revoked', async () => {
  const id = await create();
  const key = (await caller().post(`/organisations/${id}/keys`, SHOP)).body.api_key.id as string;
  await caller().patch(`/organisations/${id}`, { plan: 'starter' });
  for (const [path, body] of [
    ['/keys', SHOP],
    ['/webhooks', HINT],
  ] as const) {
    const answer = await caller().post(`/organisations/${id}${path}`, body);
    expect([answer.status, answer.body.code]).toEqual([403, 'plan_required']);
  }
  expect((await caller().remove(`/organisations/${id}/keys/${key}`)).status).toBe(200);
});

test('a sign-in link signs its user in, once, as its role, and is audited with both', async () => {
  const id = await create();
  const user = { id: '42', name: 'Ann Lee', email: 'ann@example.com' };
  const return_to = 'https://acme.example.com/accounts/42';
  const made = await caller().post(`/organisations/${id}/sign-in-links`, { user, role: 'member', return_to });
  expect(made.status).toBe(201);
  expect(Date.parse(made.body.expires_at) - Date.now()).toBeGreaterThan(14 * 60_000);
  const link = new URL(made.body.url);
  expect([link.origin, link.pathname]).toEqual(['https://api.example.com', '/settings/sign-in']);
  const token = (await gateway.control.sessions.useLink(link.searchParams.get('link')!, '127.0.0.1'))!;
  const session = await gateway.control.sessions.find(token);
  expect(session).toMatchObject({ home: id, role: 'member', user: { ...user, id: 'app:42' }, returnTo: return_to });
  expect(await gateway.control.sessions.useLink(link.searchParams.get('link')!, '127.0.0.1')).toBeUndefined();
  expect(await actionsOf(id)).toContain('link.created');
  const faults = await caller().post(`/organisations/${id}/sign-in-links`, {
    user: { id: '', name: 'a\nb', email: 'none' },
    role: 'owner',
  });
  expect(faults.body.errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
    ...['/role', '/user/email', '/user/id'],
  ]);
  const wrong = await caller().post(`/organisations/${id}/sign-in-links`, { user: { id: 'a\nb', name: 'Ann' } });
  expect([wrong.status, wrong.body.errors[0]]).toMatchObject([422, { pointer: '/user/id', code: 'format' }]);
  const elsewhere = ['https://acme.example.com.evil.example/', 'http://acme.example.com/', 'javascript:alert(1)', '/'];
  for (const url of elsewhere) {
    const refused = await caller().post(`/organisations/${id}/sign-in-links`, { user, return_to: url });
    expect([refused.status, refused.body.errors]).toMatchObject([
      422,
      [{ pointer: '/return_to', code: 'not_allowed', detail: expect.stringContaining('https://acme.example.com') }],
    ]);
  }
});

test('without PUBLIC_URL a sign-in link names the port that PORT=0 picked', async () => {
  await withGateway(TOKENS, async (other) => {
    const user = { id: '42', name: 'Ann Lee' };
    const { id } = (await operator(other).post('/organisations', { name: 'Acme' })).body;
    const { body } = await operator(other).post(`/organisations/${String(id)}/sign-in-links`, { user, role: 'member' });
    expect(new URL(body.url).origin).toBe(other.url);
  });
});

test('a webhook is created with its secret, listed without, and deleted; its faults have pointers', async () => {
  const id = await create();
  const made = await caller().post(`/organisations/${id}/webhooks`, HINT);
  expect([made.status, made.body.secret, made.body.endpoint.url]).toEqual([
    ...[201, expect.stringMatching(/^whsec_/), HINT.url],
  ]);
  const listed = await caller().get(`/organisations/${id}/webhooks`);
  expect(listed.body.data).toMatchObject([{ id: made.body.endpoint.id, types: HINT.types }]);
  expect(JSON.stringify(listed.body)).not.toContain('whsec_');
  const removed = await caller().remove(`/organisations/${id}/webhooks/${String(made.body.endpoint.id)}`);
  expect([removed.status, removed.body.id]).toEqual([200, made.body.endpoint.id]);
  expect((await caller().get(`/organisations/${id}/webhooks`)).body.data).toEqual([]);
  const wrong = await caller().post(`/organisations/${id}/webhooks`, { url: 'http://10.0.0.1/', types: ['none'] });
  expect(wrong.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(['/url', '/types/0']);
  expect(await actionsOf(id)).toEqual(['webhook.deleted', 'webhook.created', 'organisation.created']);
});

test('usage is summed over the days from and to, both included', async () => {
  const id = await create();
  const today = Math.floor(Date.now() / DAY) * DAY;
  const counts = { requests: 5, errors: 2, rate_limited: 1 };
  for (const ago of [0, 1, 3]) {
    const at = new Date(today - ago * DAY);
    await gateway.control.usage.add([{ keyId: organisationUsageId(id), at, ...counts }]);
  }
  const day = (ago: number): string => new Date(today - ago * DAY).toISOString().slice(0, 10);
  const usage = async (query: string): Promise<Json> => (await caller().get(`/organisations/${id}/usage${query}`)).body;
  const all = await usage('');
  expect([all.requests, all.errors, all.rate_limited, all.buckets.length]).toEqual([15, 6, 3, 30]);
  const some = await usage(`?from=${day(3)}&to=${day(1)}`);
  expect(some.buckets.map(({ requests }: { requests: number }) => requests)).toEqual([5, 0, 5]);
  expect((await usage(`?from=${day(1)}&to=${day(1)}`)).requests).toBe(5);
  // the days that are kept
  expect((await usage(`?from=${day(31)}`)).buckets).toHaveLength(32);
  expect((await usage(`?to=${day(20)}`)).buckets).toHaveLength(12);
  for (const [query, parameter] of [
    [`?from=${day(0)}&to=${day(1)}`, 'to'],
    [`?from=${day(0)}&to=${day(-100)}`, 'to'],
    [`?to=${day(32)}`, 'to'],
    [`?from=${day(32)}`, 'from'],
    [`?from=${day(-1)}`, 'from'],
  ] as const)
    expect((await usage(query)).errors).toEqual([expect.objectContaining({ parameter, code: 'range' })]);
  expect((await usage('?from=yesterday')).errors[0].parameter).toBe('from');
});

test('every operation is available over GraphQL too', async () => {
  const id = await create();
  const { body } = await caller().graphql(
    `mutation($id: ID!, $user: SignInUser!, $hook: String!) {
      create_key(id: $id, name: "By GraphQL", scopes: ["quotes:read"]) { key api_key { id } }
      create_sign_in_link(id: $id, user: $user, role: admin) { url expires_at }
      create_webhook(id: $id, url: $hook) { secret endpoint { id } }
    }`,
    { id, user: { id: '1', name: 'Ann' }, hook: HINT.url },
  );
  expect(body.errors).toBeUndefined();
  const { create_key, create_webhook } = body.data;
  const ended = await caller().graphql(
    `mutation($id: ID!, $key: ID!, $webhook: ID!) {
      rotate_key(id: $id, key_id: $key) { api_key { id } }
      revoke_key(id: $id, key_id: $key) { state }
      delete_webhook(id: $id, webhook_id: $webhook) { id }
    }`,
    { id, key: create_key.api_key.id, webhook: create_webhook.endpoint.id },
  );
  expect(ended.body.data).toMatchObject({
    revoke_key: { state: 'revoked' },
    delete_webhook: { id: create_webhook.endpoint.id },
  });
  const read = await caller().graphql(
    `query($id: ID!) { keys(id: $id, limit: 5) { data { id state } } webhooks(id: $id) { data { id } }
      usage(id: $id) { requests } shards { data { name } } }`,
    { id },
  );
  const names = (await caller().get('/shards')).body.data.map(({ name }: Json) => ({ name }));
  expect(read.body.data).toMatchObject({ webhooks: { data: [] }, shards: { data: names } });
  expect(read.body.data.keys.data).toHaveLength(2);
});
