import { randomUUID } from 'node:crypto';
import { databaseName } from '../../../src/mongo/databaseNames';
import { DAY, HOUR, MINUTE, UUID } from '../../../src/units';
import { deliveryId, webhookDeliveries } from '../../../src/webhooks/deliveries';
import type { Json } from '../../support/client';
import { late, startGateway, withGateway } from '../../support/gateway';
import { type Office, officeOf, openOffice } from './office';

/* Users manage webhook endpoints. */

const office = late(openOffice);
afterAll(() => office.gateway.stop());

const anOffice = (): Promise<Office> => officeOf(office.gateway);
const url = 'https://hooks.example.com/scopegate';

async function actions({ admin }: Office): Promise<Json[]> {
  const { data } = await admin('audit_events', {});
  return data.map(({ action, details, actor }: Json) => ({ action, actor, ...JSON.parse(details as string) }));
}

test('an endpoint is created with a secret that is shown once, listed without it, and audited', async () => {
  const { admin, member, ...rest } = await anOffice();
  const types = ['order.created', 'order.created'];
  const { secret, endpoint } = await admin('create_webhook', { url, types });
  expect(secret).toMatch(/^whsec_[\w+/]{32}$/);
  expect(endpoint).toMatchObject({ url, types: ['order.created'], state: 'enabled', waiting: 0, lag_seconds: 0 });
  expect(endpoint.id).toMatch(UUID);
  const listed = await member('webhooks');
  expect(listed.data).toEqual([endpoint]);
  expect(JSON.stringify(listed)).not.toContain('whsec_');
  const stored = await rest.gateway.databases.control.collection('webhook_endpoints').findOne({ _id: endpoint.id });
  expect(JSON.stringify(stored)).not.toContain(secret.slice(6));
  const [made] = (await actions({ admin, member, ...rest })).filter(({ action }) => action === 'webhook.created');
  const audited = { action: 'webhook.created', actor: 'user:link:Ada', endpoint: endpoint.id };
  expect(made).toEqual({ ...audited, url, types: ['order.created'] });
});

test('each change is audited, a rotation gives another secret, and a deletion is permanent', async () => {
  const one = await anOffice();
  const { admin } = one;
  const { secret, endpoint } = await admin('create_webhook', { url });
  const { id } = endpoint;
  expect(await admin('update_webhook', { webhook_id: id, url: `${url}/2` })).toMatchObject({
    url: `${url}/2`,
    types: [],
  });
  const rotated = await admin('rotate_webhook', { webhook_id: id });
  expect(rotated.secret).toMatch(/^whsec_/);
  expect(rotated.secret).not.toBe(secret);
  expect(Date.parse(rotated.endpoint.old_secret_until as string) - Date.now()).toBeGreaterThan(DAY - 60_000);
  expect(await admin('disable_webhook', { webhook_id: id })).toMatchObject({
    state: 'disabled',
    disabled_reason: 'by_hand',
  });
  expect(await admin('enable_webhook', { webhook_id: id })).toMatchObject({ state: 'enabled', disabled_reason: null });
  expect(await admin('delete_webhook', { webhook_id: id })).toMatchObject({ id });
  expect((await admin('webhooks')).data).toEqual([]);
  expect(await admin('delete_webhook', { webhook_id: id })).toMatchObject({ code: 'not_found' });
  const names = (await actions(one)).map(({ action }) => action).filter((name: string) => name.startsWith('webhook.'));
  expect(names).toEqual(
    ['deleted', 'enabled', 'disabled', 'rotated', 'updated', 'created'].map((name) => `webhook.${name}`),
  );
});

test('a change without effect is not audited', async () => {
  const one = await anOffice();
  const { id } = (await one.admin('create_webhook', { url, types: ['product.created'] })).endpoint;
  for (const args of [{ url }, { types: ['product.created'] }, {}])
    expect(await one.admin('update_webhook', { webhook_id: id, ...args })).toMatchObject({ id, url });
  for (let times = 0; times < 2; times += 1)
    expect(await one.admin('disable_webhook', { webhook_id: id })).toMatchObject({ id, state: 'disabled' });
  const names = (await actions(one)).map(({ action }) => action).filter((name: string) => name.startsWith('webhook.'));
  expect(names).toEqual(['webhook.disabled', 'webhook.created']);
});

test('an organisation has at most 20 endpoints, even if they are created concurrently', async () => {
  const { admin } = await anOffice();
  const answers = await Promise.all(Array.from({ length: 24 }, () => admin('create_webhook', { url })));
  expect(answers.filter(({ secret }) => secret)).toHaveLength(20);
  for (const { code, errors } of answers.filter(({ secret }) => !secret)) {
    // a conflict means that it lost to the others too often
    expect(['validation_failed', 'conflict']).toContain(code);
    if (errors)
      expect(errors[0].detail).toBe(
        'the organisation has 20 webhook endpoints, the most that its plan includes; delete one first',
      );
  }
  expect((await admin('webhooks')).data).toHaveLength(20);
  expect(await admin('create_webhook', { url })).toMatchObject({ code: 'validation_failed' });
});

test('for every operation, an endpoint of another organisation does not exist', async () => {
  const [one, other] = [await anOffice(), await anOffice()];
  const { endpoint } = await one.admin('create_webhook', { url });
  const { id } = endpoint;
  const delivery = `${String(id)}.${'0'.repeat(28)}`;
  for (const [name, args] of [
    ['webhook_deliveries', { webhook_id: id }],
    ['webhook_delivery', { webhook_id: id, delivery }],
    ['webhook_statistics', { webhook_id: id, period: 'last_24h' }],
    ['update_webhook', { webhook_id: id, url }],
    ['rotate_webhook', { webhook_id: id }],
    ['enable_webhook', { webhook_id: id }],
    ['disable_webhook', { webhook_id: id }],
    ['delete_webhook', { webhook_id: id }],
    ['send_test_event', { webhook_id: id }],
    ['resend_event', { webhook_id: id, delivery }],
  ] as const)
    expect([name, (await other.admin(name, args)).code]).toEqual([name, 'not_found']);
  expect((await other.admin('webhooks')).data).toEqual([]);
  expect((await one.admin('webhooks')).data).toHaveLength(1);
});

test.each([
  ['ftp://example.com/', 'must begin with https://'],
  ['hooks.example.com', 'is not a URL, e.g. https://example.com/webhooks'],
  [
    'https://user:secret@example.com/',
    'must have no user name or password; check the signature of what arrives instead',
  ],
  [`https://example.com/${'é'.repeat(400)}`, 'is longer than 2000 characters'],
  ['https://example.com:0/', 'must have another port than 0'],
  ['https://10.0.0.1/', 'has the address 10.0.0.1, which is not public'],
  ['https://2852039166/latest', 'has the address 169.254.169.254, which is not public'],
  ['https://[::ffff:10.0.0.1]/', 'has the address ::ffff:a00:1, which is not public'],
  ['http://93.184.216.34/', 'must begin with https://'],
  // a name that is not found is treated like one with a public address
  ['http://hooks.invalid/', 'must begin with https://: its address is not one that is opened for http'],
])('the URL %s is rejected: %s', async (bad, detail) => {
  const { admin } = office;
  const answer = await admin('create_webhook', { url: bad });
  expect(answer).toMatchObject({ code: 'validation_failed', errors: [{ pointer: '/url', detail }] });
});

test('unknown event types are rejected by name, including that of test events', async () => {
  const types = ['order.created', 'order.sung', 'webhook.test'];
  const answer = await office.admin('create_webhook', { url, types });
  expect(answer.errors.map(({ pointer }: Json) => pointer)).toEqual(['/types/1', '/types/2']);
});

test('localhost requires both of its addresses, as a delivery does', async () => {
  const { admin, gateway } = await openOffice({ WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8' });
  try {
    const answer = await admin('create_webhook', { url: 'https://localhost:8443/hook' });
    expect(answer.errors).toMatchObject([{ pointer: '/url', detail: 'has the address ::1, which is not public' }]);
  } finally {
    await gateway.stop();
  }
});

test('a name with allowed addresses may use http, and an endpoint cannot be changed to one without', async () => {
  const { admin, gateway } = await openOffice({ WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8,::1/128' });
  try {
    const { endpoint } = await admin('create_webhook', { url: 'http://localhost:8080/hook' });
    expect(endpoint).toMatchObject({ url: 'http://localhost:8080/hook' });
    const changed = await admin('update_webhook', { webhook_id: endpoint.id, url: 'http://hooks.invalid/' });
    expect(changed).toMatchObject({ code: 'validation_failed', errors: [{ pointer: '/url' }] });
  } finally {
    await gateway.stop();
  }
});

test('an endpoint that failed until it was disabled cannot go on where it stopped once events since then are no longer kept', async () => {
  const { admin, gateway } = await anOffice();
  const { id } = (await admin('create_webhook', { url })).endpoint;
  const daysAgo = (days: number) => new Date(Date.now() - days * DAY);
  const disabled = { state: 'disabled', disabled: { reason: 'failures', at: daysAgo(26) } };
  const endpoints = gateway.databases.control.collection('webhook_endpoints');
  await endpoints.updateOne({ _id: id }, { $set: { ...disabled, failing_since: daysAgo(31), parked: 1 } });
  expect(await admin('enable_webhook', { webhook_id: id })).toMatchObject({
    errors: [{ pointer: '/from', code: 'range' }],
  });
  await endpoints.updateOne({ _id: id }, { $set: { failing_since: daysAgo(29) } });
  expect(await admin('enable_webhook', { webhook_id: id })).toMatchObject({ state: 'enabled' });
});

test('an endpoint cannot be enabled from a time in the future, except for clock skew', async () => {
  const { admin } = await anOffice();
  const { id } = (await admin('create_webhook', { url })).endpoint;
  const enable = (after: number) =>
    admin('enable_webhook', { webhook_id: id, from: new Date(Date.now() + after).toISOString() });
  expect(await enable(HOUR)).toMatchObject({
    code: 'validation_failed',
    errors: [{ pointer: '/from', code: 'range', detail: 'is in the future' }],
  });
  expect(await enable(MINUTE)).toMatchObject({ state: 'enabled' });
});

test('enabling from now that is refused skips no parked event', async () => {
  const { admin, organisation, gateway } = await anOffice();
  const { endpoint } = await admin('create_webhook', { url });
  const data = gateway.databases.organisationData(organisation);
  await data.prepare([webhookDeliveries]);
  const [log, at, _id] = [[], new Date(), deliveryId(endpoint.id, 'parked')];
  const members = { endpoint_id: endpoint.id, event_id: 'parked', type: 'quote.created', object_id: null, attempts: 1 };
  const deliveries = data.collection(webhookDeliveries);
  await deliveries.insertOne({ _id, ...members, state: 'waiting', next_at: at, log, at });
  const enable = () => admin('enable_webhook', { webhook_id: endpoint.id, from: new Date().toISOString() });
  const stateOf = async () => (await deliveries.findOne({ _id }))?.state;
  const events = gateway.databases.control.collection<{ _id: string }>('audit_events');
  const event = { actor: { who: 'user:link:Ada', from: 'here' }, action: 'webhook.enabled', times: 1, details: {} };
  const many = { ...event, organisation_id: organisation.id, key_id: null, at };
  await events.insertMany(Array.from({ length: 1000 }, () => ({ _id: randomUUID(), ...many })));
  expect(await enable()).toMatchObject({ code: 'rate_limited' });
  expect(await stateOf()).toBe('waiting');
  await events.deleteMany({ organisation_id: organisation.id, action: 'webhook.enabled' });
  expect(await enable()).toMatchObject({ state: 'enabled' });
  expect(await stateOf()).toBe('skipped');
});

test('without WEBHOOK_SECRET nothing can be created, and the answer says what to set', async () => {
  await withGateway({}, async (gateway) => {
    const { admin } = await officeOf(gateway);
    const answer = await admin('create_webhook', { url });
    expect(answer).toMatchObject({ code: 'unavailable' });
    expect(answer.message).toMatch(/^WEBHOOK_SECRET is not set, so webhook endpoints cannot be created; set it to/);
    expect((await admin('webhooks')).data).toEqual([]);
  });
});

test('with a WEBHOOK_SECRET that does not match existing endpoints, nothing is created, rotated or sent by hand', async () => {
  const CONTROL_DATABASE = `scopegate_hooks_${randomUUID().slice(0, 8)}`;
  const first = await openOffice({ CONTROL_DATABASE });
  const { endpoint } = await first.admin('create_webhook', { url });
  const second = await startGateway({
    CONTROL_DATABASE,
    WEBHOOK_SECRET: 'another master secret of webhooks, for tests',
  });
  try {
    const { admin } = await officeOf(second, first.organisation);
    for (const answer of [
      await admin('create_webhook', { url }),
      await admin('rotate_webhook', { webhook_id: endpoint.id }),
      await admin('send_test_event', { webhook_id: endpoint.id }),
    ])
      expect(answer).toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('set it to its former value'),
      });
    await admin('delete_webhook', { webhook_id: endpoint.id });
    expect(await admin('create_webhook', { url })).toMatchObject({ secret: expect.any(String) });
  } finally {
    await second.stop();
    await first.gateway.databases.control.dropDatabase();
    await first.gateway.stop();
  }
});

test('creating and sending need a plan with API access; disabling and deleting do not', async () => {
  const { gateway } = office;
  const { admin, organisation } = await anOffice();
  const { endpoint } = await admin('create_webhook', { url });
  const { id } = endpoint;
  await gateway.control.organisations.setPlan(organisation.id, 'starter');
  expect(await admin('create_webhook', { url })).toMatchObject({ code: 'plan_required' });
  expect(await admin('enable_webhook', { webhook_id: id })).toMatchObject({ code: 'plan_required' });
  expect(await admin('send_test_event', { webhook_id: id })).toMatchObject({ code: 'plan_required' });
  expect(await admin('disable_webhook', { webhook_id: id })).toMatchObject({ state: 'disabled' });
  expect(await admin('delete_webhook', { webhook_id: id })).toMatchObject({ id });
});

test('listing and creating endpoints create no organisation database', async () => {
  const { admin, organisation } = await anOffice();
  const { endpoint } = await admin('create_webhook', { url });
  await admin('webhook_deliveries', { webhook_id: endpoint.id });
  await admin('webhooks');
  expect(await office.gateway.databases.organisationsWithData()).not.toContain(organisation.id);
  expect(databaseName(organisation.id)).toMatch(/^org_/);
});
