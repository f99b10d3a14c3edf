import { randomUUID } from 'node:crypto';
import { resourceOf } from '../../src/resources';
import { eventually } from '../api/http/eventually';
import { operator, TOKENS } from '../admin/operator/operator';
import { named } from '../support/attachments';
import { client } from '../support/client';
import { callerOf, makeKey } from '../support/factories';
import type { Organisation } from '../../src/auth/principal';
import { late, metric, served } from '../support/gateway';
import { ALL_FACES, argumentsOf, operations } from '../support/operations';
import { IDS, makeStocked } from '../support/fixtures/contract';
import { plansFile } from '../support/plansFile';

const products = resourceOf('products');

/* What an organisation may still do once it stores as much as it may. */

/** Over the 2 MB of the sample: if storing it takes more than 10 s, it is measured halfway. */
const LIMIT = 4 * 1024 * 1024;
const WRITES = operations.filter(({ kind }) => kind === 'Mutation');
const open = operations.find(({ name }) => name === 'open_request')!;

const PLANS_FILE = plansFile({
  plans: { integrations: { api: true }, roomy: { api: true, bytes: 8 * LIMIT }, endless: { api: true, bytes: null } },
  default: 'integrations',
});
const gateway = served({ MAX_ORGANISATION_BYTES: String(LIMIT), PLANS_FILE, ...TOKENS });
const full = late(() => makeStocked(gateway));
const caller = late(() => callerOf(gateway, full));

test('every write in every API is 422 quota_exceeded and stores nothing; reads, dry runs and replays work', async () => {
  const headers = { 'idempotency-key': randomUUID() };
  const before = { text: 'Before', customer_id: IDS.customer };
  const first = await caller.post('/requests', before, headers);
  expect(first.status).toBe(201);
  const path = `/requests/${IDS.request}/attachments`;
  const uploading = {
    body: 'x',
    headers: { ...headers, 'content-type': 'text/plain', ...named('x.txt'), 'idempotency-key': randomUUID() },
  };
  const uploaded = await caller.send('POST', path, uploading);
  expect(uploaded.status).toBe(201);
  // as an import by the operator does, which is not limited
  await fill(full);
  // until then its size is unknown, or that of a moment ago
  forgetSizes();
  await eventually(async () => (await caller.post('/requests', { text: 'Until then' })).status === 422);
  const count = () => caller.get('/requests', { limit: 100 }).then(({ body }) => (body.data as unknown[]).length);
  const requests = await count();
  for (const face of ALL_FACES) {
    for (const operation of WRITES) {
      const { dry_run: isDry, ...args } = argumentsOf(operation, IDS) as Record<string, unknown>;
      const refused = await face.call(caller, operation, args);
      const [where, error] = [`${operation.name} ${face.name}`, face.errorOf(refused) as unknown];
      expect([where, error]).toMatchObject([where, { code: 'quota_exceeded', status: 422 }]);
      if (isDry === true) {
        const dry = await face.call(caller, operation, { ...args, dry_run: true });
        expect([where, face.errorOf(dry)]).toEqual([where, undefined]);
      }
    }
    const keyed = await face.call(caller, open, { text: 'Keyed' }, { 'idempotency-key': randomUUID() });
    expect(face.errorOf(keyed)).toMatchObject({ code: 'quota_exceeded' });
  }
  expect(await count()).toBe(requests);
  const again = await caller.post('/requests', before, headers);
  expect([again.status, again.body]).toEqual([201, first.body]);
  // a file is refused as well, its replay is not, and deleting it makes room
  const { headers: other } = { headers: { ...uploading.headers, 'idempotency-key': randomUUID() } };
  expect((await caller.send('POST', path, { ...uploading, headers: other })).body.code).toBe('quota_exceeded');
  expect((await caller.send('POST', path, uploading)).body).toEqual(uploaded.body);
  expect((await caller.send('DELETE', `${path}/${String(uploaded.body.id)}`)).status).toBe(200);
  expect(await metric(gateway, 'scopegate_organisations_full')).toBe(1);
  expect(await metric(gateway, 'scopegate_organisation_bytes_max')).toBeGreaterThan(2 * LIMIT);
});

/** Has sizes measured anew, as they are until 10 s after a measurement. */
const forgetSizes = (): void => {
  gateway.databases.limitBytes({ mostOf: (plan) => gateway.control.plans.of({ plan }).bytes });
};

/** Stores twice as much as an organisation may. */
async function fill(organisation: Organisation): Promise<void> {
  const rows = Array.from({ length: 100 }, () => ({
    _id: randomUUID(),
    sku: randomUUID(),
    filler: 'x'.repeat((2 * LIMIT) / 100),
  }));
  const data = gateway.databases.organisationData(organisation);
  await data.collection(products).insertMany(rows, { bypassDocumentValidation: true });
}

test('what makes room works: a full sandbox is reset, and a customer is erased', async () => {
  const calls = operator(gateway);
  const { name: confirm } = (await caller.get(`/customers/${IDS.customer}`)).body;
  const erased = await calls.post(`/organisations/${full.id}/customers/${IDS.customer}/erasure`, { confirm });
  expect(erased.status).toBe(200);
  const owner = await makeStocked(gateway);
  const { body: sandbox } = await calls.post(`/organisations/${owner.id}/sandbox`, {});
  await fill(sandbox);
  const data = gateway.databases.organisationData(sandbox);
  // until then its size is that of a moment ago
  forgetSizes();
  await eventually(() =>
    data.requireRoom().then(
      () => undefined,
      () => true,
    ),
  );
  expect((await calls.post(`/organisations/${owner.id}/sandbox/reset`, {})).status).toBe(200);
  expect(await data.collection(products).findOne({ filler: { $exists: true } } as object)).toBeNull();
});

test('another plan has its own limit, from the next write on', async () => {
  const status = async (): Promise<number> => (await caller.post('/requests', { text: 'Now' })).status;
  await fill(full);
  await eventually(async () => (await status()) === 422);
  const { setPlan } = gateway.control.organisations;
  await setPlan(full.id, 'roomy');
  expect(await status()).toBe(201);
  // a key for some customers writes by the same plan
  const made = await caller.post('/customers/bulk', { customers: [{ external_ref: 'C-2', name: 'Two' }] });
  const customer_id = String(made.body.results[0].id);
  const { key } = await makeKey(gateway, full, { customerIds: [customer_id] });
  expect((await client(gateway, key).post('/requests', { text: 'Now', customer_id })).status).toBe(201);
  const ratio = await metric(gateway, 'scopegate_organisation_bytes_ratio_max');
  expect([ratio > 0.25, ratio < 1]).toEqual([true, true]);
  expect(await metric(gateway, 'scopegate_organisations_full')).toBe(0);
  await setPlan(full.id, 'integrations');
  expect(await status()).toBe(422);
  await setPlan(full.id, 'endless');
  expect(await status()).toBe(201);
});

test('another organisation is not affected', async () => {
  const other = await callerOf(gateway, makeStocked(gateway));
  for (let turn = 0; turn < 3; turn += 1) expect((await other.post('/requests', { text: 'Hello' })).status).toBe(201);
});
