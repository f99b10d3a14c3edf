import { randomUUID } from 'node:crypto';
import type { Organisation } from '../../src/auth/principal';
import { signIn } from '../admin/settings/people';
import { operator, TOKENS } from '../admin/operator/operator';
import { client } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { served } from '../support/gateway';
import { ALL_FACES, operations } from '../support/operations';
import { plansFile } from '../support/plansFile';

/* What PLANS_FILE decides. The file itself: test/unit/plans.test.ts; bytes: test/security/quota.test.ts. */

const small = {
  api: true,
  points_per_minute: 500,
  organisation_points_per_minute: 700,
  active_keys: 2,
  webhook_endpoints: 1,
};
const large = {
  ...small,
  points_per_minute: 9000,
  organisation_points_per_minute: 9001,
  active_keys: 3,
  bytes: 5_000_000,
};
const PLANS = { plans: { none: { api: false }, small, large: { ...large, webhook_endpoints: 0 } }, default: 'small' };
const environment = {
  ...TOKENS,
  WEBHOOK_SECRET: 'a master secret that is long enough',
  CONTROL_DATABASE: 'scopegate_test_plans',
};

const withPlans = { ...environment, PLANS_FILE: plansFile(PLANS) };
const [gateway, other] = [served(withPlans), served(withPlans)];
/** A gateway that has no file yet. */
const behind = served(environment);
const me = operations.find(({ name }) => name === 'me')!;

let organisation: Organisation;
let key: string;
beforeEach(async () => {
  organisation = await makeOrganisation(gateway, { plan: 'small' });
  ({ key } = await makeKey(gateway, organisation));
});

const setPlan = (plan: string, at = gateway) => operator(at).patch(`/organisations/${organisation.id}`, { plan });

test('operators see the plans and what each includes, and create organisations on the default one', async () => {
  const { body } = await operator(gateway).get('/plans');
  const standard = { points_per_minute: 1_000_000, organisation_points_per_minute: 10_000_000, active_keys: 100 };
  expect(body.data).toEqual([
    { name: 'none', api: false, ...standard, webhook_endpoints: 20, bytes: null, default: false },
    { name: 'small', ...small, bytes: null, default: true },
    { name: 'large', ...large, webhook_endpoints: 0, default: false },
  ]);
  expect((await operator(gateway).post('/organisations', { name: 'New' })).body.plan).toBe('small');
  // a repeat of what a gateway with another default created is that still
  const attempt = { 'idempotency-key': randomUUID() };
  const before = await operator(behind).post('/organisations', { name: 'New' }, attempt);
  const repeated = await operator(gateway).post('/organisations', { name: 'New' }, attempt);
  expect([repeated.status, repeated.body.id]).toEqual([201, before.body.id]);
  const unknown = {
    status: 422,
    body: { errors: [{ pointer: '/plan', code: 'not_allowed', detail: 'must be one of none, small, large' }] },
  };
  expect(await operator(gateway).post('/organisations', { name: 'New', plan: 'integrations' })).toMatchObject(unknown);
  expect(await setPlan('integrations')).toMatchObject(unknown);
});

test('another plan applies from the next request on every gateway: rates, limits of /me and API access', async () => {
  const [here, there] = [client(gateway, key), client(other, key)];
  const limits = async (): Promise<unknown> => {
    const { body, headers } = await there.get('/me');
    return [headers.get('ratelimit-policy'), body.rate_limit?.limit, body.organisation?.limits];
  };
  expect((await here.get('/me')).body.organisation.plan).toBe('small');
  expect(await limits()).toEqual([
    '"default";q=500;w=60, "organisation";q=700;w=60',
    500,
    { active_keys: 2, webhook_endpoints: 1, bytes: null },
  ]);
  await setPlan('large');
  expect(await limits()).toEqual([
    '"default";q=9000;w=60, "organisation";q=9001;w=60',
    9000,
    { active_keys: 3, webhook_endpoints: 0, bytes: 5_000_000 },
  ]);
  await setPlan('none');
  for (const face of ALL_FACES)
    expect(face.errorOf(await face.call(there, me, {}))).toMatchObject({ code: 'plan_required' });
  await setPlan('small', other);
  expect((await here.get('/me')).status).toBe(200);
});

test('keys and webhook endpoints are as many as the plan includes; those beyond a smaller plan work on', async () => {
  const admin = await signIn(gateway, organisation);
  const newKey = () => admin.call('create_key', { name: 'k', scopes: ['products:read'] });
  const newEndpoint = (at: number) =>
    admin.call('create_webhook', { url: `https://93.184.215.${String(at)}/`, types: ['quote.created'] });
  const refused = (detail: string) => ({ code: 'validation_failed', errors: [{ code: 'too_many', detail }] });
  expect(await newKey()).toMatchObject({ key: expect.any(String) });
  expect(await newKey()).toMatchObject(
    refused('the organisation has at least 2 active keys, the most it may have; revoke one first'),
  );
  await expect(makeKey(gateway, organisation)).rejects.toThrow('or raise active_keys of small in PLANS_FILE');
  expect(await newEndpoint(1)).toMatchObject({ secret: expect.any(String) });
  expect(await newEndpoint(2)).toMatchObject(
    refused('the organisation has 1 webhook endpoint, the most that its plan includes; delete one first'),
  );
  await setPlan('large');
  expect(await newKey()).toMatchObject({ key: expect.any(String) });
  expect(await newEndpoint(2)).toMatchObject(refused('the plan of the organisation includes no webhook endpoints'));
  expect((await admin.call('webhooks', {})).data).toHaveLength(1);
  await setPlan('small');
  expect((await client(other, key).get('/me')).status).toBe(200);
  expect((await newKey()).code).toBe('validation_failed');
});

test('an organisation on a plan that a gateway lacks has no API there, and is otherwise as it was', async () => {
  const sandbox = (await operator(gateway).post(`/organisations/${organisation.id}/sandbox`, {})).body as Organisation;
  const inSandbox = await makeKey(gateway, sandbox);
  const refused = await client(behind, key).get('/me');
  expect(refused).toMatchObject({
    status: 403,
    body: {
      code: 'plan_required',
      detail: "The organisation's plan, small, is not among those of this gateway, so it does not include API access.",
    },
  });
  await client(behind, key).get('/me');
  const lines = behind.logs.filter(({ msg }) =>
    String(msg).startsWith('the plan of an organisation is not in PLANS_FILE'),
  );
  expect(lines).toEqual([expect.objectContaining({ level: 40, plan: 'small', organisation_id: organisation.id })]);
  expect((await client(behind, inSandbox.key).get('/me')).body.organisation).toMatchObject({
    plan: 'small',
    limits: { active_keys: 100 },
  });
  const calls = operator(behind);
  const path = `/organisations/${organisation.id}`;
  expect((await calls.get('/organisations?plan=small')).body.data).toContainEqual(
    expect.objectContaining({ id: organisation.id }),
  );
  expect((await calls.get(`${path}/keys`)).body.data).toHaveLength(1);
  expect((await calls.get(`${path}/audit-events`)).status).toBe(200);
  expect((await calls.patch(path, { name: 'Renamed' })).body).toMatchObject({ name: 'Renamed', plan: 'small' });
  expect((await calls.post(`${path}/keys`, { name: 'k', scopes: ['products:read'] })).body.code).toBe('plan_required');
  expect((await signIn(behind, organisation)).csrf).not.toBe('');
  expect((await setPlan('integrations', behind)).status).toBe(200);
  expect((await client(behind, key).get('/me')).status).toBe(200);
});
