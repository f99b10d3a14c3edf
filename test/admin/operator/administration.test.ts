import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { client, type Json } from '../../support/client';
import { makeKey, northwind, store } from '../../support/factories';
import { served } from '../../support/gateway';
import { startReceiver, stopReceivers } from '../../support/receiver';
import { signIn } from '../settings/people';
import { newRef, operator, TOKENS } from './operator';

/* What operators do within an organisation: its sessions, customers, keys, webhooks and sandbox. */

jest.mock('../../../src/resources/sample', () => jest.requireActual<object>('../../support/smallSample'));

const gateway = served({
  ...TOKENS,
  // its webhooks have a secret of their own
  CONTROL_DATABASE: 'scopegate_test_administration',
  WEBHOOK_SECRET: 'w'.repeat(32),
  WEBHOOK_ALLOWED_RANGES: '127.0.0.1/32',
});
afterEach(stopReceivers);
const caller = () => operator(gateway);
const create = async (more: object = {}): Promise<string> =>
  (await caller().post('/organisations', { name: 'Acme', ...more })).body.id as string;
const organisationOf = async (id: string) => (await gateway.control.organisations.find(id))!;
const keyed = async (id: string) => {
  const { key } = await makeKey(gateway, await organisationOf(id));
  return client(gateway, key);
};
const audited = async (id: string): Promise<Json[]> =>
  (await gateway.control.audit.list({ organisationId: id, limit: 50 })).filter(
    ({ actor }) => actor.who === 'operator:billing',
  );
const actions = async (id: string): Promise<string[]> => (await audited(id)).map(({ action }) => action as string);

test('signing out ends the sessions of all users, or of one', async () => {
  const id = await create();
  const [ada, max] = [
    await signIn(gateway, await organisationOf(id), 'admin', 'Ada'),
    await signIn(gateway, await organisationOf(id), 'member', 'Max'),
  ];
  const isIn = async (person: typeof ada): Promise<boolean> =>
    (await person.graphql('{ members { has_more } }')).status === 200;
  expect([await isIn(ada), await isIn(max)]).toEqual([true, true]);
  const { data } = await ada.call('members');
  const user = data.find(({ name }: Json) => name === 'Max').id as string;
  const one = await caller().remove(`/organisations/${id}/sessions?user_id=${encodeURIComponent(user)}`);
  expect([one.status, one.body, await isIn(ada), await isIn(max)]).toEqual([200, { sessions: 1 }, true, false]);
  expect((await caller().remove(`/organisations/${id}/sessions`)).body).toEqual({ sessions: 1 });
  expect(await isIn(ada)).toBe(false);
  expect(await actions(id)).toEqual(['user.signed_out', 'user.signed_out', 'organisation.created']);
  // a query parameter in REST, although it is a change
  const wrong = await caller().remove(`/organisations/${id}/sessions?user_id=`);
  const { body } = await caller().graphql(`mutation { sign_out(id: "${id}", user_id: "") { sessions } }`);
  const { code, errors } = body.errors[0].extensions;
  expect({ code, errors }).toEqual({ code: wrong.body.code, errors: wrong.body.errors });
  expect([code, errors[0].parameter]).toEqual(['invalid_request', 'user_id']);
});

test('a key is changed from its next request on, its scopes too', async () => {
  const id = await create();
  const made = (await caller().post(`/organisations/${id}/keys`, { name: 'A', scopes: ['quotes:read'] })).body;
  const path = `/organisations/${id}/keys/${made.api_key.id as string}`;
  const changed = await caller().patch(path, { name: 'B', allowed_ranges: ['203.0.113.0/24'], mcp: 'off' });
  expect([changed.status, changed.body]).toEqual([
    200,
    expect.objectContaining({ name: 'B', allowed_ranges: ['203.0.113.0/24'], mcp: 'off' }),
  ]);
  expect((await client(gateway, made.key as string).get('/me')).status).toBe(401);
  expect((await caller().patch(path, { allowed_ranges: [], expires_at: null })).status).toBe(200);
  expect((await client(gateway, made.key as string).get('/me')).status).toBe(200);
  const statuses = () =>
    Promise.all(['/quotes', '/orders'].map(async (one) => (await client(gateway, made.key as string).get(one)).status));
  expect(await statuses()).toEqual([200, 403]);
  expect((await caller().patch(path, { scopes: ['orders:read'] })).body.scopes).toEqual(['orders:read']);
  expect(await statuses()).toEqual([403, 200]);
  for (const scopes of [[], ['orders:burn'], null]) expect((await caller().patch(path, { scopes })).status).toBe(422);
  expect((await caller().patch(path, { name: null })).status).toBe(422);
  // a key for some customers; the settings page does the same (test/admin/settings/keys.test.ts)
  const customer = randomUUID();
  const body = { name: 'C', scopes: ['quotes:read'], customer_ids: [customer] };
  const refused = await caller().post(`/organisations/${id}/keys`, body);
  expect([refused.status, refused.body.errors]).toMatchObject([
    422,
    [{ pointer: '/customer_ids/0', code: 'not_found' }],
  ]);
  await store(gateway, await organisationOf(id), { customers: [{ ...northwind('customers')[0]!, id: customer }] });
  const external_ref = String(northwind('customers')[0]!.external_ref);
  const named = await caller().post(`/organisations/${id}/keys`, {
    ...body,
    customer_ids: [`ref:${external_ref}`, customer, 'ref:none', `ref:${external_ref}`],
  });
  expect(named.body.errors).toEqual([
    { pointer: '/customer_ids/2', code: 'not_found', detail: 'is not a customer of the organisation' },
  ]);
  const byRef = await caller().post(`/organisations/${id}/webhooks`, {
    url: 'https://93.184.215.1/',
    customer_ids: [`ref:${external_ref}`, customer],
  });
  expect([byRef.status, byRef.body.endpoint]).toMatchObject([201, { customer_ids: [customer] }]);
  const restricted = await caller().post(`/organisations/${id}/keys`, {
    ...body,
    customer_ids: [`ref:${external_ref}`],
  });
  expect([restricted.status, restricted.body.api_key]).toMatchObject([201, { customer_ids: [customer] }]);
  expect((await caller().get(`/organisations/${id}/keys`)).body.data).toContainEqual(restricted.body.api_key);
  const other = await create();
  expect((await caller().patch(path.replace(id, other), { name: 'C' })).status).toBe(404);
  expect((await actions(id)).filter((action) => action === 'key.updated')).toHaveLength(3);
});

test('a webhook is disabled, enabled, and its secret replaced once for each Idempotency-Key', async () => {
  const receiver = await startReceiver();
  const id = await create();
  const { body: made } = await caller().post(`/organisations/${id}/webhooks`, { url: receiver.url });
  const path = `/organisations/${id}/webhooks/${made.endpoint.id as string}`;
  const disabled = await caller().post(`${path}/disable`, undefined);
  expect([disabled.status, disabled.body.state]).toEqual([200, 'disabled']);
  const enabled = await caller().post(`${path}/enable`, { from: new Date().toISOString() });
  expect([enabled.status, enabled.body.state]).toEqual([200, 'enabled']);
  expect((await caller().post(`${path}/enable`, { from: '2020-01-01' })).status).toBe(422);
  const once = { 'idempotency-key': randomUUID() };
  const rotated = await caller().post(`${path}/rotation`, undefined, once);
  expect([rotated.status, rotated.body.endpoint.id]).toEqual([200, made.endpoint.id]);
  expect(rotated.body.secret).toMatch(/^whsec_/);
  expect(rotated.body.secret).not.toBe(made.secret);
  const repeated = await caller().post(`${path}/rotation`, undefined, once);
  expect([repeated.status, repeated.body.errors[0].parameter]).toEqual([409, 'Idempotency-Key']);
  expect(JSON.stringify(repeated.body)).not.toContain('whsec_');
  const { call } = await signIn(gateway, await organisationOf(id), 'admin', 'Ada');
  await call('send_test_event', { webhook_id: made.endpoint.id });
  const [{ body, headers }] = receiver.arrived as [(typeof receiver.arrived)[number]];
  // both, so nothing was replaced twice
  for (const secret of [made.secret, rotated.body.secret] as string[])
    expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: 'webhook.test', origin: null });
  const foreign = path.replace(id, await create());
  for (const what of ['enable', 'disable', 'rotation'])
    expect((await caller().post(`${foreign}/${what}`, undefined)).status).toBe(404);
  expect(await actions(id)).toEqual([
    ...['webhook.rotated', 'webhook.enabled', 'webhook.disabled', 'webhook.created', 'organisation.created'],
  ]);
});

test('a customer is erased by name, repeatedly, and readmitted, by id or ref', async () => {
  const id = await create();
  const shop = await keyed(id);
  const [external_ref, name] = [newRef(), 'Ann Lee'];
  const { body: stored } = await shop.post('/customers/bulk', { customers: [{ external_ref, name }] });
  const customer = stored.results[0].id as string;
  await shop.post('/requests', { text: 'How long?', customer_id: customer });
  const path = `/organisations/${id}/customers/${customer}`;
  const byRef = `/organisations/${id}/customers/${encodeURIComponent(`ref:${external_ref}`)}`;
  const wrong = await caller().post(`${path}/erasure`, { confirm: 'Bob' });
  expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([422, '/confirm']);
  const erased = await caller().post(`${byRef}/erasure`, { confirm: name });
  expect([erased.status, erased.body]).toMatchObject([200, { id: customer, external_ref }]);
  expect(erased.body.erased).toContainEqual({ collection: 'customers', count: 1 });
  expect((await shop.get(`/customers/${customer}`)).body).toMatchObject({
    name: 'erased',
    erased_at: expect.any(String),
  });
  const again = await caller().post(`${path}/erasure`, { confirm: '' });
  expect(again.body.erased.every(({ count }: Json) => count === 0)).toBe(true);
  const refused = await shop.post('/customers/bulk', { customers: [{ external_ref, name }] });
  expect(refused.body.results[0].errors[0].code).toBe('erased');
  for (let n = 0; n < 2; n += 1)
    expect((await caller().post(`${byRef}/readmission`, undefined)).body).toEqual({ id: customer, external_ref });
  expect((await shop.post('/customers/bulk', { customers: [{ external_ref, name }] })).body.updated).toBe(1);
  const erasures = ['customer.erased', 'customer.erased'];
  expect(await actions(id)).toEqual(['customer.readmitted', ...erasures, 'organisation.created']);
  expect((await caller().post(`${path.replace(id, await create())}/erasure`, { confirm: name })).status).toBe(404);
  const rows = gateway.databases.control.collection<{ _id: string }>('organisations');
  const move = { to: 'b', mover: 'm', begun_at: new Date(), seen_at: new Date() };
  await rows.updateOne({ _id: id }, { $set: { move } });
  expect((await caller().post(`${path}/erasure`, { confirm: name })).status).toBe(503);
});

test('a sandbox is made once, with the sample, and reset; nothing else can be reset', async () => {
  const id = await create();
  expect((await caller().post(`/organisations/${id}/sandbox/reset`, undefined)).status).toBe(404);
  const made = await caller().post(`/organisations/${id}/sandbox`, undefined);
  const again = await caller().post(`/organisations/${id}/sandbox`, undefined);
  expect([made.status, again.status, made.body.sandbox_of, again.body.id]).toEqual([201, 200, id, made.body.id]);
  const sandbox = made.body.id as string;
  const test = await keyed(sandbox);
  const counts = async (): Promise<number> =>
    (await test.graphql('{ order_totals(group_by: []) { data { count } } }')).body.data.order_totals.data[0]
      .count as number;
  const orders = await counts();
  await test.post('/products/bulk', { products: [{ sku: 'MINE', name: 'Mine' }] });
  for (const path of [id, sandbox]) {
    const reset = await caller().post(`/organisations/${path}/sandbox/reset`, undefined);
    expect([reset.status, reset.body.id]).toEqual([200, sandbox]);
  }
  expect((await test.get('/products', { sku: 'MINE' })).body.data).toEqual([]);
  expect(await counts()).toBe(orders);
  const twice = await create();
  const both = await Promise.all([1, 2].map(() => caller().post(`/organisations/${twice}/sandbox`, undefined)));
  expect(both.map(({ status }) => status).sort()).toEqual([200, 201]);
  expect(both[0]!.body.id).toBe(both[1]!.body.id);
  const nested = await caller().post(`/organisations/${sandbox}/sandbox`, undefined);
  expect([nested.status, nested.body.code]).toEqual([409, 'conflict']);
  expect(await actions(id)).toEqual(['sandbox.created', 'organisation.created']);
  expect(await actions(sandbox)).toEqual(['sandbox.reset', 'organisation.created']);
});
