import { randomUUID } from 'node:crypto';
import { eventually } from '../http/eventually';
import { client, type Json } from '../support/client';
import { makeKey, northwind, store } from '../support/factories';
import { served } from '../support/gateway';
import { operator, TOKENS } from './operator';

// the other cluster is full
const CLUSTERS = { MONGODB_CLUSTERS: `full=${process.env.TEST_MONGODB_URI!}`, CLUSTER_FILES: '60000 full=10' };
const gateway = served({ ...TOKENS, ...CLUSTERS, CONTROL_DATABASE: 'scopegate_test_jobs' });
const caller = () => operator(gateway);
const create = async (name: string): Promise<string> => (await caller().post('/organisations', { name })).body.id;
const ended = (id: string): Promise<Json> =>
  eventually(async () => {
    const { body } = await caller().get(`/jobs/${id}`);
    return body.ended_at === null ? undefined : body;
  });

test('an erasure answers 202 and a job, after which the organisation, its keys and its data are gone', async () => {
  const id = await create('Gone Ltd');
  const organisation = (await gateway.control.organisations.find(id))!;
  const { key } = await makeKey(gateway, organisation);
  await store(gateway, organisation, { products: northwind('products') });
  const data = await gateway.databases.open(organisation);
  expect(await data.exists()).toBe(true);
  const asked = await caller().post(`/organisations/${id}/erasure`, { confirm: 'Gone Ltd' });
  expect([asked.status, asked.headers.get('location')]).toEqual([202, `/operator/v1/jobs/${String(asked.body.id)}`]);
  expect(asked.body).toMatchObject({ kind: 'erasure', organisation_id: id, to: null, created_by: 'operator:billing' });
  expect(await ended(asked.body.id)).toMatchObject({ state: 'done', error: null });
  expect((await caller().get(`/organisations/${id}`)).status).toBe(404);
  expect((await client(gateway, key).get('/me')).status).toBe(401);
  expect(await data.exists()).toBe(false);
  const audit = await gateway.control.audit.list({ organisationId: id, limit: 10 });
  expect(audit.map(({ action, actor }) => [action, actor.who])).toEqual([['organisation.erased', 'operator:billing']]);
});

test('an erasure ends the sandbox too', async () => {
  const id = await create('Owner');
  const actor = { who: 'cli:test', from: 'here' };
  const sandbox = (await gateway.control.sandboxes.create({ of: id, seeded: false }, actor))!.organisation.id;
  const { body } = await caller().post(`/organisations/${id}/erasure`, { confirm: 'Owner' });
  expect((await ended(body.id)).state).toBe('done');
  expect((await caller().get(`/organisations/${sandbox}`)).status).toBe(404);
});

test('an erasure needs the name, and repeated it is one job', async () => {
  const id = await create('Twice');
  const wrong = await caller().post(`/organisations/${id}/erasure`, { confirm: 'twice' });
  expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([422, '/confirm']);
  const all = await Promise.all(
    Array.from({ length: 8 }, () => caller().post(`/organisations/${id}/erasure`, { confirm: 'Twice' })),
  );
  const jobs = all.filter(({ status }) => status === 202).map(({ body }) => body.id as string);
  // whoever is late finds no organisation any more
  expect(all.filter(({ status }) => status !== 202 && status !== 404)).toEqual([]);
  expect(new Set(jobs).size).toBe(1);
  await ended(jobs[0]!);
  expect((await caller().post(`/organisations/${id}/erasure`, { confirm: 'Twice' })).status).toBe(404);
});

test('while an organisation is erased it cannot be changed, and its external_ref is taken', async () => {
  const external_ref = `ref-${randomUUID()}`;
  const { body } = await caller().post('/organisations', { name: 'Ending', external_ref });
  await gateway.control.erasing.begin(body.id);
  const path = `/organisations/${String(body.id)}`;
  for (const [method, at, sent] of [
    ['PATCH', '', { state: 'active' }],
    ['POST', '/keys', { name: 'Shop', scopes: ['quotes:read'] }],
    ['POST', '/sign-in-links', { user: { id: '1', name: 'Ann' } }],
    ['POST', '/moves', { to: 'default' }],
  ] as const) {
    const { status, body: problem } = await caller().call(method, path + at, sent);
    expect([at, status, problem.code]).toEqual([at, 409, 'conflict']);
  }
  const again = await caller().post('/organisations', { name: 'Ending', external_ref });
  expect([again.status, again.body.errors]).toEqual([409, undefined]);
  const job = await caller().post(`${path}/erasure`, { confirm: 'Ending' });
  expect((await ended(job.body.id)).state).toBe('done');
  expect((await caller().post('/organisations', { name: 'New', external_ref })).status).toBe(201);
});

test('a move is refused to an unknown cluster, to its own, and of an organisation that is moved by someone else', async () => {
  const id = await create('Here');
  const move = (to: string) => caller().post(`/organisations/${id}/moves`, { to });
  expect((await move('elsewhere')).body.errors[0]).toMatchObject({ pointer: '/to', code: 'not_allowed' });
  expect((await move('default')).body.errors[0]).toMatchObject({ pointer: '/to', code: 'conflict' });
  await gateway.control.moving.begin({ id, mover: randomUUID() }, 'eu');
  const erasure = await caller().post(`/organisations/${id}/erasure`, { confirm: 'Here' });
  expect([erasure.status, erasure.body.detail]).toEqual([409, expect.stringContaining('being moved to cluster eu')]);
});

test('a job is in the audit log when it is asked for, and when it fails', async () => {
  const id = await create('Stays');
  const { body } = await caller().post(`/organisations/${id}/moves`, { to: 'full' });
  const { state, error } = await ended(body.id);
  expect([state, error]).toEqual(['failed', expect.stringContaining('cluster full is full')]);
  const audit = await gateway.control.audit.list({ organisationId: id, limit: 10 });
  const job = { job: body.id, kind: 'move' };
  expect(audit.map(({ action, actor, details }) => [action, actor.who, details]).slice(0, 2)).toEqual([
    ['job.failed', 'operator:billing', { ...job, error }],
    ['job.created', 'operator:billing', { ...job, to: 'full' }],
  ]);
});

test('a move that a gateway went on with and somebody has undone is not begun again', async () => {
  const organisationId = await create('Undone');
  const itself = { who: 'system:moves', from: 'here' };
  const asked = await gateway.control.jobs.ask({ kind: 'move', organisationId, to: 'full' }, itself);
  expect(await ended(asked!._id)).toMatchObject({ state: 'failed', error: 'the move was undone' });
});

test('a gateway leaves a move to a cluster that it does not know to others', async () => {
  const [organisationId, other] = [await create('Elsewhere'), await create('Next')];
  const asked = await gateway.control.jobs.ask(
    { kind: 'move', organisationId, to: 'elsewhere' },
    { who: 'a', from: 'b' },
  );
  // the oldest is taken first
  await ended((await caller().post(`/organisations/${other}/erasure`, { confirm: 'Next' })).body.id);
  expect((await caller().get(`/jobs/${asked!._id}`)).body).toMatchObject({ state: 'waiting', to: 'elsewhere' });
});

test('an unknown job is 404, and jobs are there over GraphQL', async () => {
  expect((await caller().get(`/jobs/${randomUUID()}`)).status).toBe(404);
  const id = await create('By GraphQL');
  const { body } = await caller().graphql(
    `mutation($id: ID!) { erase_organisation(id: $id, confirm: "By GraphQL") { id kind state } }`,
    { id },
  );
  const job = body.data.erase_organisation.id as string;
  await ended(job);
  const read = await caller().graphql(`query($job: ID!) { job(id: $job) { state organisation_id } }`, { job });
  expect(read.body.data.job).toEqual({ state: 'done', organisation_id: id });
});
