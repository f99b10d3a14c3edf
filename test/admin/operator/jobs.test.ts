import { randomUUID } from 'node:crypto';
import { HOUR } from '../../../src/units';
import { eventually } from '../../api/http/eventually';
import { client, type Json } from '../../support/client';
import { isSharded } from '../../support/differences';
import { makeKey, northwind, store } from '../../support/factories';
import { served } from '../../support/gateway';
import { operator, TOKENS, untilEnded } from './operator';

jest.mock('../../../src/async/loop', () => jest.requireActual<object>('../../support/quickLoops'));

const gateway = served({ ...TOKENS, CONTROL_DATABASE: 'scopegate_test_jobs' });
const caller = () => operator(gateway);
const BY = { who: 'a', from: 'b' };
const onShards = () => isSharded(gateway.databases.control.getClient());
const create = async (name: string): Promise<string> => (await caller().post('/organisations', { name })).body.id;
/** Creates an organisation with a database. */
async function createStored(name: string): Promise<string> {
  const id = await create(name);
  const organisation = (await gateway.control.organisations.find(id))!;
  await store(gateway, organisation, { products: northwind('products').slice(0, 1) });
  return id;
}
const ended = (id: string): Promise<Json> => untilEnded(gateway, id);

test('an erasure answers 202 and a job, after which the organisation, its keys and its data are gone', async () => {
  const id = await create('Gone Ltd');
  const organisation = (await gateway.control.organisations.find(id))!;
  const { key } = await makeKey(gateway, organisation);
  await store(gateway, organisation, { products: northwind('products') });
  const data = gateway.databases.organisationData(organisation);
  expect(await data.exists()).toBe(true);
  const asked = await caller().post(`/organisations/${id}/erasure`, { confirm: 'Gone Ltd' });
  expect([asked.status, asked.headers.get('location')]).toEqual([202, `/operator/v1/jobs/${String(asked.body.id)}`]);
  expect(asked.headers.get('retry-after')).toBe('2');
  expect(asked.body).toMatchObject({ kind: 'erasure', organisation_id: id, to: null, created_by: 'operator:billing' });
  expect(await ended(asked.body.id)).toMatchObject({ state: 'done', error: null });
  expect((await caller().get(`/organisations/${id}`)).status).toBe(404);
  expect((await client(gateway, key).get('/me')).status).toBe(401);
  expect(await data.exists()).toBe(false);
  const audit = await gateway.control.audit.list({ organisationId: id, limit: 10 });
  expect(audit.map(({ action, actor }) => [action, actor.who])).toEqual([['organisation.erased', 'operator:billing']]);
});

test('an erasure needs the name, and repeating it finds the same job', async () => {
  const id = await create('Twice');
  const wrong = await caller().post(`/organisations/${id}/erasure`, { confirm: 'twice' });
  expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([422, '/confirm']);
  const all = await Promise.all(
    Array.from({ length: 8 }, () => caller().post(`/organisations/${id}/erasure`, { confirm: 'Twice' })),
  );
  expect(all.map(({ status }) => status)).toEqual(all.map(() => 202));
  const [job, ...others] = new Set(all.map(({ body }) => body.id as string));
  expect(others).toEqual([]);
  const done = await ended(job!);
  // once the organisation is gone too
  const again = await caller().post(`/organisations/${id}/erasure`, { confirm: 'Twice' });
  expect([again.status, again.body]).toEqual([202, done]);
  const move = await caller().post(`/organisations/${id}/moves`, { to: 'shard01' });
  expect(move.status).toBe(404);
});

test('what a gateway did before it died without recording that is done, and not begun again', async () => {
  const organisationId = await createStored('Done');
  const { body: erasure } = await caller().post(`/organisations/${organisationId}/erasure`, { confirm: 'Done' });
  await ended(erasure.id);
  // what another gateway created before it noticed
  const left = gateway.databases.organisationData({ id: organisationId });
  await left.database.collection('products').insertOne({});
  const rows = gateway.databases.control.getClient().db('scopegate_test_jobs').collection<Json>('jobs');
  const unended = { $set: { state: 'running', ended_at: null, until: new Date(0) }, $unset: { ends_at: 1 } };
  // nor does it end as failed: while that database keeps being created, or while nobody can read whether there was an organisation
  const created = jest.spyOn(left, 'exists').mockResolvedValue(true);
  const away = jest.spyOn(gateway.control.moving, 'moveOf').mockRejectedValueOnce(new Error('away'));
  const attempted = async (): Promise<void> => {
    await rows.updateOne({ _id: erasure.id }, unended);
    const tried = { _id: erasure.id, error: { $ne: null }, holder: null, state: 'waiting', ended_at: null };
    // in one command, so that it is not attempted again before the next step of this test
    const held = { $set: { error: null, until: new Date(Date.now() + HOUR) } };
    await eventually(async () => (await rows.updateOne(tried, held)).modifiedCount === 1);
  };
  await attempted();
  expect(away).toHaveBeenCalled();
  await attempted();
  created.mockRestore();
  away.mockRestore();
  await rows.updateOne({ _id: erasure.id }, unended);
  expect(await ended(erasure.id)).toMatchObject({ state: 'done', error: null });
  expect(await left.exists()).toBe(false);
});

test('an open job of an earlier version is found and ended, and one of a later version left alone', async () => {
  const id = await create('Upgraded');
  const rows = gateway.databases.control.getClient().db('scopegate_test_jobs').collection<Json>('jobs');
  // the index that earlier versions made
  await rows.createIndexes([{ key: { open_of: 1 }, unique: true, sparse: true }], {});
  const old = { _id: randomUUID(), kind: 'move', organisation_id: id, to: 'eu', actor: BY, state: 'waiting' };
  const due = new Date(Date.now() + 3_600_000);
  const at = { created_at: new Date(), ended_at: null, open_of: id, holder: null, until: due };
  await rows.insertOne({ ...old, step: null, error: null, ...at });
  // and one of a later version, which is due and the oldest
  const later = { ...old, ...at, _id: randomUUID(), kind: 'merger', created_at: new Date(0), until: new Date(0) };
  await rows.insertOne({ ...later, organisation_id: randomUUID(), open_of: randomUUID() });
  const move = { kind: 'move', organisationId: id, to: 'eu' } as const;
  expect((await gateway.control.jobs.findOrCreate(move, BY))?._id).toBe(old._id);
  expect((await caller().post(`/organisations/${id}/erasure`, { confirm: 'Upgraded' })).status).toBe(409);
  await rows.updateOne({ _id: old._id }, { $set: { until: new Date(0) } });
  const why = (await onShards()) ? 'there is no shard eu' : 'replica set';
  expect(await ended(old._id)).toMatchObject({ state: 'failed', error: expect.stringContaining(why) });
  const erasure = await caller().post(`/organisations/${id}/erasure`, { confirm: 'Upgraded' });
  expect((await ended(erasure.body.id)).state).toBe('done');
  // only gateways that know how to do it take it
  expect(await rows.findOneAndDelete({ _id: later._id })).toMatchObject({ state: 'waiting', holder: null });
});

test('while an organisation is being erased it cannot be changed, and its external_ref stays taken', async () => {
  const external_ref = `ref-${randomUUID()}`;
  const { body } = await caller().post('/organisations', { name: 'Ending', external_ref });
  await gateway.control.erasing.begin(body.id);
  const path = `/organisations/${String(body.id)}`;
  for (const [method, at, sent] of [
    ['PATCH', '', { state: 'active' }],
    ['POST', '/keys', { name: 'Shop', scopes: ['quotes:read'] }],
    ['POST', '/sign-in-links', { user: { id: '1', name: 'Ann' } }],
    ['POST', '/moves', { to: 'shard01' }],
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

test('on a replica set there is no shard to create or move an organisation on, and none is listed', async () => {
  if (await onShards()) return;
  const id = await create('Here');
  const move = await caller().post(`/organisations/${id}/moves`, { to: 'shard01' });
  expect([move.status, move.body.errors[0]]).toMatchObject([422, { pointer: '/to', code: 'not_allowed' }]);
  const made = await caller().post('/organisations', { name: 'There', shard: 'shard01' });
  expect([made.status, made.body.errors[0]]).toMatchObject([422, { pointer: '/shard', code: 'not_allowed' }]);
  expect((await caller().get('/shards')).body).toEqual({ data: [] });
});

test('an erasure is refused while someone else moves the organisation', async () => {
  const id = await create('There');
  await gateway.control.moving.begin({ id, mover: randomUUID() }, 'shard01');
  const erasure = await caller().post(`/organisations/${id}/erasure`, { confirm: 'There' });
  expect([erasure.status, erasure.body.detail]).toEqual([409, expect.stringContaining('being moved to shard shard01')]);
});

test('a job is in the audit log when it is created, and when it fails', async () => {
  const organisationId = await create('Stays');
  const asked = await gateway.control.jobs.findOrCreate({ kind: 'move', organisationId, to: 'nowhere' }, BY);
  const { state, error } = await ended(asked!._id);
  const why = (await onShards()) ? /^there is no shard nowhere/ : /^the database is a replica set, without shards$/;
  expect([state, error]).toEqual(['failed', expect.stringMatching(why)]);
  const audit = await gateway.control.audit.list({ organisationId, limit: 10 });
  const job = { job: asked!._id, kind: 'move' };
  expect(audit.map(({ action, actor, details }) => [action, actor.who, details]).slice(0, 2)).toEqual([
    ['job.failed', 'a', { ...job, error }],
    ['job.created', 'a', { ...job, to: 'nowhere' }],
  ]);
});

test('an unknown job is 404, and jobs are available over GraphQL', async () => {
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
