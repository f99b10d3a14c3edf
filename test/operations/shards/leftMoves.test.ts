import { randomUUID } from 'node:crypto';
import { databaseName } from '../../../src/mongo/databaseNames';
import { eventually } from '../../api/http/eventually';
import { operator, TOKENS, untilEnded } from '../../admin/operator/operator';
import type { Json } from '../../support/client';
import { makeOrganisation } from '../../support/factories';
import { late, servedBy, startGateway } from '../../support/gateway';
import { startMongos } from '../../support/mongos';

/* Jobs that find a move which another process, or their former holder, ended or left. */

jest.mock('../../../src/mongo/native', () => ({
  ...jest.requireActual<object>('../../../src/mongo/native'),
  READ_TIMEOUT: 100,
}));
jest.mock('../../../src/async/loop', () => jest.requireActual<object>('../../support/quickLoops'));
jest.mock('../../../src/mongo/lease', () => jest.requireActual<object>('../../support/quickLoops'));

const CONTROL_DATABASE = 'scopegate_shards_left';
const mongos = late(() => startMongos(['shard01', 'shard02']));
const gateway = servedBy(() => startGateway({ ...TOKENS, MONGODB_URI: mongos.uri, CONTROL_DATABASE }));
afterAll(() => mongos.close());

const rows = (name: string) => gateway.databases.control.collection<Json>(name);
const ended = (id: string): Promise<Json> => untilEnded(gateway, id);
const moveOf = async (id: string) => (await gateway.control.moving.moveOf(id))?.move;

/** Id of an organisation on shard01. */
async function stored(): Promise<string> {
  const { id } = await makeOrganisation(gateway);
  mongos.databases.set(databaseName(id), 'shard01');
  return id;
}

/** Lets the gateway take no job until it is restored, once it has looked in vain. */
async function holdJobs() {
  const taken = jest.spyOn(gateway.control.jobs, 'take').mockResolvedValue(undefined);
  // a look before that may still be under way, and take a job that is created now
  await eventually(() => taken.mock.calls.length > 0);
  return taken;
}

/** Begins a move to shard02 by a process that was killed long ago. */
async function moveAndKill(id: string): Promise<void> {
  await gateway.control.moving.begin({ id, mover: randomUUID() }, 'shard02');
  await rows('organisations').updateOne({ _id: id }, { $set: { 'move.seen_at': new Date(0) } });
}

test('a move whose end a gateway could not record, or that another process ended, is done', async () => {
  const { body: job } = await operator(gateway).post(`/organisations/${await stored()}/moves`, { to: 'shard02' });
  await ended(job.id);
  const unended = { $set: { state: 'running', ended_at: null, until: new Date(0) }, $unset: { ends_at: 1 } };
  await rows('jobs').updateOne({ _id: job.id }, unended);
  expect(await ended(job.id)).toMatchObject({ state: 'done', error: null });
});

test('asked for again once MongoDB has moved it, and before it has ended, a move is the same job', async () => {
  const id = await stored();
  const taken = await holdJobs();
  const ask = () => operator(gateway).post(`/organisations/${id}/moves`, { to: 'shard02' });
  const { body: job } = await ask();
  mongos.databases.set(databaseName(id), 'shard02');
  const again = await ask();
  taken.mockRestore();
  expect([again.status, again.body.id]).toEqual([202, job.id]);
  await ended(job.id);
});

test('a move whose organisation was erased fails, and records no event of it', async () => {
  const id = await stored();
  const taken = await holdJobs();
  const { body: job } = await operator(gateway).post(`/organisations/${id}/moves`, { to: 'shard02' });
  await rows('organisations').deleteOne({ _id: id });
  await rows('audit_events').deleteMany({ organisation_id: id });
  taken.mockRestore();
  expect(await ended(job.id)).toMatchObject({ state: 'failed' });
  expect(await rows('audit_events').countDocuments({ organisation_id: id })).toBe(0);
});

test('a move elsewhere that was left by its process is ended before a job that waits for it, and does not hold up other moves', async () => {
  const [id, other] = [await stored(), await stored()];
  const taken = await holdJobs();
  const { body: job } = await operator(gateway).post(`/organisations/${id}/moves`, { to: 'shard02' });
  await rows('jobs').updateOne({ _id: job.id }, { $set: { to: 'shard01' } });
  await moveAndKill(id);
  await moveAndKill(other);
  const found = jest.spyOn(gateway.control.jobs, 'findOrCreate');
  await eventually(() => found.mock.results.length > 1);
  taken.mockRestore();
  found.mockRestore();
  await eventually(async () => (await moveOf(other)) === undefined);
  expect(await ended(job.id)).toMatchObject({ state: 'done', error: null });
  const audit = await gateway.control.audit.list({ organisationId: id, action: 'organisation.moved', limit: 5 });
  expect(audit.map(({ details }) => details)).toEqual([
    { from: 'shard02', to: 'shard01' },
    { from: 'shard01', to: 'shard02' },
  ]);
});
