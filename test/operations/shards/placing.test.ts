import { randomUUID } from 'node:crypto';
import type { mongo } from 'mongoose';
import { databaseName } from '../../../src/mongo/databaseNames';
import { heartbeatDatabase } from '../../../src/mongo/shardHealth';
import { storedBytes } from '../../../src/tenant/quota';
import { commandLine } from '../../cli/commandLine';
import { operator, TOKENS } from '../../admin/operator/operator';
import type { Json } from '../../support/client';
import { isSharded } from '../../support/differences';
import { served, late, servedBy, startGateway } from '../../support/gateway';
import { refusal, startMongos, UNAUTHORISED } from '../../support/mongos';

/* On which shard a new organisation is placed, and how shards are shown, by a stand-in for mongos. */

const mongos = late(() => startMongos(['shard01', 'shard02', 'shard03']));
const gateway = servedBy(() =>
  startGateway({ ...TOKENS, MONGODB_URI: mongos.uri, CONTROL_DATABASE: 'scopegate_shards_placing' }),
);
const replicaSet = served({ ...TOKENS, CONTROL_DATABASE: 'scopegate_shards_none' });
afterAll(() => mongos.close());
beforeEach(() => {
  mongos.replies = {};
  mongos.shards = ['shard01', 'shard02', 'shard03'].map((_id) => ({ _id }));
  for (const name of mongos.databases.keys()) if (name.startsWith('org_')) mongos.databases.delete(name);
  mongos.commands.length = 0;
});

const create = (body: object = {}) => operator(gateway).post('/organisations', { name: 'New', ...body });
const faultOf = async (body: object): Promise<Json> => (await create(body)).body.errors[0];

test('a new organisation is placed on the shard with the fewest that is not draining', async () => {
  mongos.databases.set('org_0000000000004000800000000000000a', 'shard01');
  mongos.shards = [{ _id: 'shard01' }, { _id: 'shard02', draining: true }, { _id: 'shard03' }];
  const { status, body } = await create();
  expect([status, body.shard]).toEqual([201, 'shard03']);
  const database = databaseName(body.id);
  expect(mongos.commands.find(({ enableSharding }) => enableSharding === database)).toMatchObject({
    primaryShard: 'shard03',
  });
  // now both have one
  expect((await create()).body.shard).toBe('shard01');
});

test('an operator chooses the shard, which must exist and not be draining', async () => {
  expect((await create({ shard: 'shard02' })).body.shard).toBe('shard02');
  expect(await faultOf({ shard: 'mars' })).toMatchObject({
    pointer: '/shard',
    code: 'not_allowed',
    detail: 'there is no shard mars; shards are shard01, shard02, shard03',
  });
  mongos.shards = [{ _id: 'shard01' }, { _id: 'shard02', draining: true }];
  expect(await faultOf({ shard: 'shard02' })).toMatchObject({ detail: 'shard shard02 is draining' });
  const cli = commandLine({ MONGODB_URI: mongos.uri });
  const { id } = await cli.json<Json>('org', 'create', '--name', 'A', '--shard', 'shard01');
  expect(await cli.json('org', 'show', id)).toMatchObject({ shard: 'shard01' });
  expect(await cli.json<Json[]>('org', 'list', '--shard', 'shard01')).toMatchObject([{ id, shard: 'shard01' }]);
  expect(await cli.failed(2, 'org', 'create', '--name', 'A', '--shard', 'mars')).toContain('there is no shard mars');
});

test('a sandbox is on the shard that its command names, and one or an organisation that is refused leaves no database', async () => {
  const cli = commandLine({ MONGODB_URI: mongos.uri });
  const { id } = await cli.json<Json>('org', 'create', '--name', 'A');
  const sandbox = await cli.json<Json>('org', 'create', '--sandbox-of', id, '--shard', 'shard02');
  expect(sandbox.shard).toBe('shard02');
  const created = await cli.json<Json[]>('audit', '--org', sandbox.id, '--action', 'organisation.created');
  expect(created).toMatchObject([{ details: { sandbox_of: id, shard: 'shard02' } }]);
  mongos.commands.length = 0;
  expect(await cli.failed(1, 'org', 'create', '--sandbox-of', id)).toContain('has a sandbox already');
  expect(await cli.failed(1, 'org', 'create', '--sandbox-of', sandbox.id)).toContain('is a sandbox itself');
  const named = ['org', 'create', '--name', 'A', '--external-ref', 'taken'];
  await cli.json(...named);
  mongos.commands.length = 0;
  expect(await cli.failed(1, ...named)).toContain('another organisation has this external_ref');
  expect(mongos.commands.filter((command) => 'enableSharding' in command)).toEqual([]);
});

test('the empty database of a creation with an id that failed stays where it is when that is tried again', async () => {
  const id = randomUUID();
  mongos.databases.set(databaseName(id), 'shard01');
  const cli = commandLine({ MONGODB_URI: mongos.uri });
  const again = ['org', 'create', '--name', 'A', '--id', id];
  expect(await cli.failed(2, ...again, '--shard', 'shard02')).toContain('is on another shard already');
  expect(await cli.json('org', 'create', '--name', 'A', '--id', id)).toMatchObject({ id, shard: 'shard01' });
});

test('without the privilege to choose, MongoDB places the organisation, and a choice is refused', async () => {
  mongos.replies.enableSharding = () => UNAUTHORISED;
  expect((await create()).status).toBe(201);
  expect(await faultOf({ shard: 'shard02' })).toMatchObject({ detail: expect.stringContaining('clusterManager') });
  delete mongos.replies.enableSharding;
  mongos.replies.listShards = () => UNAUTHORISED;
  expect((await create()).status).toBe(201);
});

test('operators see the shards with their organisations', async () => {
  const { id } = (await create({ shard: 'shard02' })).body;
  mongos.shards = [{ _id: 'shard01' }, { _id: 'shard02', draining: true }];
  expect((await operator(gateway).get('/shards')).body.data).toEqual([
    { name: 'shard01', draining: false, state: 'up', organisations: 0 },
    { name: 'shard02', draining: true, state: 'up', organisations: 1 },
  ]);
  expect((await operator(gateway).get('/organisations?shard=shard02')).body.data).toMatchObject([{ id }]);
  expect((await operator(gateway).get('/organisations?shard=shard01')).body.data).toEqual([]);
});

test('a replica set has no shards', async () => {
  if (await isSharded(replicaSet.databases.control.getClient())) return;
  const own = operator(replicaSet);
  const { body } = await own.post('/organisations', { name: 'New' });
  expect(body.shard).toBeNull();
  expect((await own.get('/shards')).body.data).toEqual([]);
  const refusal = (await own.post('/organisations', { name: 'New', shard: 'shard01' })).body.errors[0];
  expect(refusal).toMatchObject({ pointer: '/shard', detail: 'the database is a replica set, without shards' });
  expect((await own.post(`/organisations/${String(body.id)}/moves`, { to: 'shard01' })).status).toBe(422);
});

test('doctor reports the shards, their files, and a missing privilege, and advises nothing for a replica set', async () => {
  const cli = commandLine({ MONGODB_URI: mongos.uri, SHARD_FILES: '40' });
  const { id } = await cli.json<Json>('org', 'create', '--name', 'A', '--shard', 'shard02');
  mongos.databases.set(databaseName(id), 'shard02');
  await cli.json('import', '--org', id, 'examples/northwind/products.ndjson');
  const checks = async () => {
    const { stdout } = await cli.run('doctor', '--production', '--json');
    return new Map((JSON.parse(stdout).checks as Json[]).map((check) => [check.name as string, check]));
  };
  const found = await checks();
  expect(found.get('sharded cluster')).toMatchObject({ ok: true, detail: '3 shards: shard01, shard02, shard03' });
  expect(found.get('files on shard02')).toMatchObject({
    ok: true,
    detail: expect.stringMatching(/ of 40 files \(SHARD_FILES\), for .* of 1 organisation$/),
  });
  for (const { fix = '' } of found.values()) expect(fix).not.toContain('rs.initiate');
  for (const name of ['members', 'transaction limit', 'log window'])
    expect(found.get(`production: ${name}`)?.detail).toContain('not seen from here: look on each shard');
  mongos.shards = [{ _id: 'shard01' }, { _id: 'shard04', draining: true }];
  expect((await checks()).get('sharded cluster')).toMatchObject({ detail: '2 shards: shard01, shard04 (draining)' });
  // whose database would keep MongoDB from emptying it
  expect([...mongos.databases.values()]).not.toContain('shard04');
  // the heartbeat of one cannot be read, and those of two cannot be made
  const NO_PRIMARY = refusal(133, 'FailedToSatisfyReadPreference', 'Could not find host');
  const heartbeat = heartbeatDatabase(cli.controlDatabase, 'shard03');
  mongos.shards = ['shard03', 'shard05', 'shard06'].map((_id) => ({ _id }));
  mongos.databases.set(heartbeat, 'shard03');
  mongos.replies.enableSharding = () => NO_PRIMARY;
  mongos.replies.find = ({ $db }) => ($db === heartbeat ? NO_PRIMARY : undefined);
  expect((await checks()).get('sharded cluster')).toMatchObject({
    ok: false,
    detail: 'shard03, shard05, shard06 of 3 shards do not respond',
  });
  mongos.replies = { find: ({ $db }) => ($db === heartbeat ? UNAUTHORISED : undefined) };
  expect((await checks()).get('sharded cluster')).toMatchObject({
    ok: true,
    detail: expect.stringContaining('MongoDB places organisations'),
  });
  mongos.replies = { listShards: () => UNAUTHORISED };
  expect((await checks()).get('sharded cluster')).toMatchObject({
    ok: true,
    fix: expect.stringContaining('clusterManager (on Atlas: Atlas admin)'),
  });
});

test('the size of a database is the sum of its shards if mongos does not add them up, and never an unknown number', async () => {
  const of = (stats: object) =>
    storedBytes({ command: () => Promise.resolve(stats), databaseName: 'org' } as unknown as mongo.Db);
  expect(await of({ dataSize: 3, indexSize: 4 })).toBe(7);
  expect(
    await of({ raw: { 'a/host:1': { dataSize: 3, indexSize: 4 }, 'b/host:1': { dataSize: 1, indexSize: 1 } } }),
  ).toBe(9);
  await expect(of({ raw: { a: { dataSize: 3 } } })).rejects.toThrow('does not say its size');
  await expect(of({})).rejects.toThrow('does not say its size');
});
