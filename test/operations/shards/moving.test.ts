import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { mongo } from 'mongoose';
import type { Organisation } from '../../../src/auth/principal';
import { databaseName } from '../../../src/mongo/databaseNames';
import { moveOrganisation } from '../../../src/jobs/moveOrganisation';
import { CONTROL_SCHEMA } from '../../../src/organisations/controlSchema';
import { ONE_CLUSTER_SCHEMA } from '../../../src/organisations/formerSchemas';
import { resourceOf } from '../../../src/resources';
import { commandLine } from '../../cli/commandLine';
import { eventually } from '../../api/http/eventually';
import { operator, TOKENS, untilEnded } from '../../admin/operator/operator';
import type { Json } from '../../support/client';
import { callerOf, makeOrganisation } from '../../support/factories';
import { late, servedBy, startGateway } from '../../support/gateway';
import { holdMove, holdWrite } from './holds';
import { refusal, startMongos, UNAUTHORISED } from '../../support/mongos';

const products = resourceOf('products');

/* Organisations that MongoDB moves to another shard, by a stand-in for mongos. */

const LONGEST_READ = 2000;
jest.mock('../../../src/mongo/native', () => ({
  ...jest.requireActual<object>('../../../src/mongo/native'),
  READ_TIMEOUT: 2000,
}));
jest.mock('../../../src/async/loop', () => jest.requireActual<object>('../../support/quickLoops'));
jest.mock('../../../src/mongo/lease', () => jest.requireActual<object>('../../support/quickLoops'));

const CONTROL_DATABASE = 'scopegate_shards_moving';
const mongos = late(() => startMongos(['shard01', 'shard02']));
const gateway = servedBy(() => startGateway({ ...TOKENS, MONGODB_URI: mongos.uri, CONTROL_DATABASE }));
afterAll(() => mongos.close());

/** A move by the command line, which waits for the longest read of production beside the tests before its own. */
const aside = late(() => startMongos(['shard01', 'shard02']));
const byCommand = late(async () => {
  const cli = commandLine({ MONGODB_URI: aside.uri });
  const { id } = await cli.json<{ id: string }>('org', 'create', '--name', 'A', '--shard', 'shard01');
  const moved = cli.spawned('org', 'move', id, '--to', 'shard02', '--json');
  return { cli, id, ended: () => moved };
});
afterAll(() => aside.close());
afterEach(() => {
  mongos.replies = {};
});

const PRODUCTS = { products: [{ sku: 'A', name: 'A' }] };
const ended = (id: string): Promise<Json> => untilEnded(gateway, id);

/** An organisation with a product on shard01, and its caller. */
async function stored() {
  const organisation = await makeOrganisation(gateway);
  mongos.databases.set(databaseName(organisation.id), 'shard01');
  const caller = await callerOf(gateway, organisation);
  expect((await caller.post('/products/bulk', PRODUCTS)).status).toBe(200);
  const move = (to = 'shard02') => operator(gateway).post(`/organisations/${organisation.id}/moves`, { to });
  const shard = async () => (await operator(gateway).get(`/organisations/${organisation.id}`)).body.shard as unknown;
  return { organisation, caller, move, shard };
}

test('a move has MongoDB move the database; meanwhile reads and writes get 503 with Retry-After, and then go on', async () => {
  const { organisation, caller, move, shard } = await stored();
  const { asked, letGo } = holdMove(mongos);
  const { status, body: job } = await move();
  expect([status, job.kind, job.to]).toEqual([202, 'move', 'shard02']);
  await asked;
  for (const { status: refused, headers, body } of [
    await caller.get('/products'),
    await caller.post('/products/bulk', PRODUCTS),
  ]) {
    expect([refused, headers.get('retry-after'), body.code]).toEqual([503, '5', 'unavailable']);
    expect(body.detail).toContain('moved to another shard');
  }
  // nothing may write meanwhile, a background task neither
  const data = gateway.databases.organisationData(organisation);
  await expect(data.whileWritable(() => Promise.resolve())).rejects.toMatchObject({ code: 'unavailable' });
  expect((await operator(gateway).get(`/jobs/${String(job.id)}`)).body).toMatchObject({
    state: 'running',
    ended_at: null,
  });
  // nor read it
  const cli = commandLine({ MONGODB_URI: mongos.uri, CONTROL_DATABASE });
  for (const command of [
    ['import', 'examples/northwind', '--org', organisation.id],
    ['export', 'nowhere', '--org', organisation.id],
  ])
    expect(await cli.failed(1, ...command)).toContain('is being moved to another shard');
  expect(await cli.json('org', 'show', organisation.id)).not.toHaveProperty('stored_bytes');
  letGo();
  expect(await ended(job.id)).toMatchObject({ state: 'done', error: null });
  expect(await shard()).toBe('shard02');
  expect((await caller.get('/products')).body.data).toHaveLength(1);
  expect((await caller.post('/products/bulk', PRODUCTS)).status).toBe(200);
  const audit = await gateway.control.audit.list({ organisationId: organisation.id, limit: 10 });
  const ofMove = audit.filter(({ action }) => action.startsWith('organisation.mov'));
  expect(ofMove.map(({ action, actor, details }) => [action, actor.who, details])).toEqual([
    ['organisation.moved', 'operator:billing', { from: 'shard01', to: 'shard02' }],
    ['organisation.moving', 'operator:billing', { to: 'shard02' }],
  ]);
});

test('a write under way is stored before MongoDB is asked to move, and one that has not begun is refused', async () => {
  const { organisation, caller, move } = await stored();
  const { data, writing, goOn } = await holdWrite(gateway, organisation, caller);
  mongos.commands.length = 0;
  const { body: job } = await move();
  await eventually(async () => (await gateway.control.moving.moveOf(organisation.id))!.move);
  // longer than reads are waited for
  await sleep(2 * LONGEST_READ);
  expect(mongos.commands.filter((command) => 'movePrimary' in command)).toEqual([]);
  goOn();
  const { status } = await writing;
  expect(await ended(job.id)).toMatchObject({ state: 'done' });
  const count = await data.collection(products).countDocuments();
  expect([status, count]).toEqual(status === 200 ? [200, 2] : [503, 1]);
});

test('a move that MongoDB refuses leaves the organisation where it was, and its requests go on', async () => {
  const { caller, move, shard } = await stored();
  mongos.replies.movePrimary = () => refusal(48, 'NamespaceExists', 'Found orphaned collection on recipient');
  const { body: job } = await move();
  const { state, error } = await ended(job.id);
  expect([state, error]).toEqual(['failed', expect.stringContaining('Found orphaned collection')]);
  expect(error).toContain('stays where it was');
  expect(await shard()).toBe('shard01');
  expect((await caller.post('/products/bulk', PRODUCTS)).status).toBe(200);
});

test('a move for which the database user lacks a privilege is refused with the role that it needs', async () => {
  const { caller, move, shard } = await stored();
  const names = expect.stringContaining('clusterManager');
  mongos.replies.listShards = () => UNAUTHORISED;
  expect((await move()).body.errors).toMatchObject([{ pointer: '/to', code: 'not_allowed', detail: names }]);
  // a user may be allowed to list the shards alone
  delete mongos.replies.listShards;
  mongos.replies.movePrimary = () => UNAUTHORISED;
  expect(await ended((await move()).body.id)).toMatchObject({ state: 'failed', error: names });
  expect(await shard()).toBe('shard01');
  expect((await caller.get('/products')).status).toBe(200);
});

/** Begins a move to shard02 by a process that is killed. */
async function moveAndKill({ organisation: { id }, caller }: Awaited<ReturnType<typeof stored>>): Promise<void> {
  await gateway.control.moving.begin({ id, mover: randomUUID() }, 'shard02');
  expect((await caller.get('/products')).status).toBe(503);
  await abandon(id);
}

/** Makes the process that moves an organisation one that was killed long ago. */
async function abandon(id: string): Promise<void> {
  const rows = gateway.databases.control.collection('organisations');
  await rows.updateOne({ _id: id as never }, { $set: { 'move.seen_at': new Date(0) } });
}

/** Moves an organisation by a process that is interrupted at its first step; resolves with that. */
async function interruptedAt({ id }: Organisation): Promise<string | undefined> {
  const { databases, control } = gateway;
  const interrupt = new AbortController();
  let at: string | undefined;
  const onStep = (step: string): void => {
    at = step;
    interrupt.abort();
  };
  const moving = moveOrganisation({ databases, control }, { id, to: 'shard02', signal: interrupt.signal, onStep });
  // the command line ends with 130 for this error
  await expect(moving).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
  return at;
}

test('a move that is interrupted before MongoDB is asked ends at once, and requests go on', async () => {
  const { organisation, caller, shard } = await stored();
  expect(await interruptedAt(organisation)).toBe('waiting');
  expect(await shard()).toBe('shard01');
  expect((await caller.get('/products')).status).toBe(200);
});

test('one that was taken over from a killed process does not end, since MongoDB may be moving the organisation', async () => {
  const scene = await stored();
  const noticed = jest.spyOn(gateway.control.moving, 'abandoned').mockResolvedValue([]);
  // a look before that may still be under way
  await eventually(() => noticed.mock.calls.length > 0);
  await moveAndKill(scene);
  expect(await interruptedAt(scene.organisation)).toBe('moving');
  expect((await scene.caller.get('/products')).status).toBe(503);
  noticed.mockRestore();
  await abandon(scene.organisation.id);
  await eventually(async () => (await scene.caller.get('/products')).status === 200);
});

test('a move is refused to an unknown or draining shard and to its own', async () => {
  const { move } = await stored();
  const fault = async (to: string): Promise<unknown> => (await move(to)).body.errors[0];
  expect(await fault('mars')).toMatchObject({ pointer: '/to', code: 'not_allowed' });
  expect(await fault('shard01')).toMatchObject({ pointer: '/to', code: 'conflict' });
  mongos.shards = [{ _id: 'shard01' }, { _id: 'shard02', draining: true }];
  expect(await fault('shard02')).toMatchObject({ pointer: '/to', code: 'not_allowed' });
  mongos.shards = [{ _id: 'shard01' }, { _id: 'shard02' }];
});

test('while gateways that know no shards may run, nothing is moved, so that no start takes it for a move to another cluster', async () => {
  const { move } = await stored();
  const schema = gateway.databases.control.collection<{ readonly _id: string }>('deployment');
  const store = (version: number) => schema.updateOne({ _id: 'schema' }, { $set: { version } });
  await store(ONE_CLUSTER_SCHEMA - 1);
  const { body: job } = await move();
  expect(await ended(job.id)).toMatchObject({
    state: 'failed',
    error: expect.stringContaining('has schema version 10'),
  });
  await commandLine({ MONGODB_URI: mongos.uri, CONTROL_DATABASE }).json('org', 'list');
  await store(CONTROL_SCHEMA);
});

test.each([
  ['had ended it', 'shard02', 0],
  ['had not', 'shard01', 1],
])(
  'a move whose process was killed is ended by a gateway, which asks MongoDB where the database is: it %s',
  async (_what, at, asked) => {
    const scene = await stored();
    const { organisation, caller, shard } = scene;
    mongos.databases.set(databaseName(organisation.id), at);
    mongos.commands.length = 0;
    await moveAndKill(scene);
    await eventually(async () => (await caller.get('/products')).status === 200);
    expect(await shard()).toBe('shard02');
    const moves = mongos.commands.filter(({ movePrimary }) => movePrimary === databaseName(organisation.id));
    expect(moves).toHaveLength(asked);
    const audit = await gateway.control.audit.list({
      organisationId: organisation.id,
      action: 'organisation.moved',
      limit: 5,
    });
    expect(audit).toMatchObject([{ actor: { who: 'system:moves' } }]);
  },
);

test('while it is not known whether MongoDB goes on, requests stay refused', async () => {
  const { caller, move } = await stored();
  let isLost = true;
  mongos.replies.movePrimary = ({ movePrimary, to }) => {
    if (isLost) return refusal(89, 'NetworkTimeout', 'no answer from the shard');
    mongos.databases.set(String(movePrimary), String(to));
    return {};
  };
  const { body: job } = await move();
  const waits = async () => (await operator(gateway).get(`/jobs/${String(job.id)}`)).body;
  await eventually(async () => typeof (await waits()).error === 'string');
  expect(await waits()).toMatchObject({ state: 'waiting', ended_at: null });
  expect((await caller.get('/products')).status).toBe(503);
  isLost = false;
  const rows = gateway.databases.control;
  await rows
    .collection('organisations')
    .updateOne({ _id: job.organisation_id }, { $set: { 'move.seen_at': new Date(0) } });
  await rows.collection('jobs').updateOne({ _id: job.id }, { $set: { until: new Date(0) } });
  expect(await ended(job.id)).toMatchObject({ state: 'done' });
  expect((await caller.get('/products')).status).toBe(200);
});

test('MongoDB is asked only after the longest command of a read that may have begun before', async () => {
  const { move } = await stored();
  let [begun, asked] = [0, 0];
  // reads are refused right after it
  mongos.replies.update = ({ updates }) => {
    if ((updates as Json[])[0].u.$set?.move !== undefined) begun = performance.now();
    return undefined;
  };
  mongos.replies.movePrimary = ({ movePrimary, to }) => {
    asked = performance.now();
    mongos.databases.set(String(movePrimary), String(to));
    return {};
  };
  const { body: job } = await move();
  await ended(job.id);
  expect(begun).toBeGreaterThan(0);
  // a timer may be a little early
  expect(asked - begun).toBeGreaterThanOrEqual(LONGEST_READ - 20);
});

test('a gateway that lost the lease of a move does not have MongoDB begin it, and leaves the job to the new holder', async () => {
  const { organisation, move, caller } = await stored();
  const { writing, goOn } = await holdWrite(gateway, organisation, caller);
  mongos.commands.length = 0;
  const { body: job } = await move();
  await eventually(async () => (await gateway.control.moving.moveOf(organisation.id))!.move);
  const jobs = gateway.databases.control.collection<{ _id: string }>('jobs');
  const other = { holder: 'other', until: new Date(Date.now() + 3_600_000) };
  // before the lease is taken away, since it is not renewed again once that failed
  const keep = jest.spyOn(gateway.control.jobs, 'keep');
  await jobs.updateOne({ _id: job.id }, { $set: other });
  await eventually(async () => (await keep.mock.results.at(-1)?.value) === false);
  keep.mockRestore();
  // reads are no longer waited for
  await sleep(LONGEST_READ);
  goOn();
  await writing;
  // time in which it would ask
  await sleep(500);
  expect(mongos.commands.filter((command) => 'movePrimary' in command)).toEqual([]);
  expect(await jobs.findOne({ _id: job.id })).toMatchObject({ ...other, state: 'running', ended_at: null });
});

test('a move waits for the events of the last changes, and is refused if no gateway records them', async () => {
  const { move, caller } = await stored();
  const tails = gateway.databases.control.collection('event_tails');
  const long = new mongo.Timestamp({ t: 1, i: 1 });
  await tails.updateOne({ _id: 'tail' as never }, { $set: { at: long, until: new Date(0) } });
  const { body: job } = await move();
  expect(await ended(job.id)).toMatchObject({ state: 'failed', error: expect.stringContaining('are not recorded') });
  expect((await caller.get('/products')).status).toBe(200);
  // MongoDB may be moving an organisation whose move was taken over from a killed process
  const scene = await stored();
  const jobs = gateway.databases.control.collection('jobs');
  await moveAndKill(scene);
  const failed = { organisation_id: scene.organisation.id, error: { $ne: null } };
  const taken = await eventually(() => jobs.findOne(failed));
  expect(taken).toMatchObject({ ended_at: null, error: expect.stringContaining('are not recorded') });
  expect((await scene.caller.get('/products')).status).toBe(503);
  await tails.updateOne(
    { _id: 'tail' as never },
    { $unset: { at: 1 }, $set: { until: new Date(Date.now() + 3_600_000) } },
  );
});

test('org move does the same, and says for how long requests were refused', async () => {
  const { id, ended: moved } = byCommand;
  const { code, stdout } = await moved();
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ id, from: 'shard01', to: 'shard02', refused_ms: expect.any(Number) });
  expect(await byCommand.cli.failed(1, 'org', 'move', id, '--to', 'shard02')).toContain('is on shard shard02 already');
  expect(await byCommand.cli.failed(1, 'org', 'move', id, '--to', 'mars')).toContain('there is no shard mars');
});
