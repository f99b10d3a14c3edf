import mongoose, { type mongo } from 'mongoose';
import { join } from 'node:path';
import { openDatabaseProxy } from '../../faults/databaseProxy';
import { databaseName } from '../../src/database/organisationData';
import { commandLine, NORTHWIND, serve, type Served } from '../cli/commandLine';
import { eventually } from '../http/eventually';
import { type OwnDatabase, startDatabase } from '../operation/database';
import type { Json } from '../support/client';
import { newRef, operator, TOKENS } from './operator';

/* Gateways that are killed while they do what an operator asked for, and others that go on. */

const EVENTS_OFF = { EVENTS: 'off' };
let eu: OwnDatabase;
let direct: mongoose.Connection;
let cli: ReturnType<typeof commandLine>;
const serving: Served[] = [];

beforeAll(async () => {
  eu = await startDatabase();
  direct = await mongoose.createConnection(process.env.TEST_MONGODB_URI!).asPromise();
  cli = commandLine({ ...TOKENS, ...EVENTS_OFF, MONGODB_CLUSTERS: `eu=${eu.uri}`, LOG_LEVEL: 'warn' });
});
afterEach(async () => {
  await Promise.all(serving.splice(0).map((one) => one.stop()));
});
afterAll(async () => {
  await direct.close();
  await eu.stop();
});

async function start(more: Record<string, string> = {}): Promise<Served> {
  const one = await serve(cli, [], { RATE_LIMIT_PER_MINUTE: '1000000', ...more });
  serving.push(one);
  return one;
}

/** A gateway that is killed when the database has answered a command of which `isLast` is true. */
async function startKilled(isLast: (command: Record<string, unknown>) => boolean) {
  const killed = { isDone: false };
  const proxy = await openDatabaseProxy(process.env.TEST_MONGODB_URI!, {
    onReply: (reply, command) => {
      if (killed.isDone || !command || !isLast(command)) return killed.isDone ? undefined : reply;
      killed.isDone = true;
      one.child.kill('SIGKILL');
      return undefined;
    },
  });
  const one = await start({ MONGODB_URI: proxy.uri });
  return { one, killed, close: () => proxy.close() };
}

const rows = (name: string): mongo.Collection<Json> =>
  direct.getClient().db(cli.controlDatabase).collection<Json>(name);

async function makeLoaded(name: string): Promise<string> {
  const { id } = await cli.json<{ id: string }>('org', 'create', '--name', name, '--cluster', 'default');
  await cli.json('import', '--org', id, join(NORTHWIND, 'products.ndjson'));
  return id;
}

const ended = (url: string, id: string): Promise<Json> =>
  eventually(async () => {
    const { body } = await operator({ url }).get(`/jobs/${id}`);
    return body.ended_at === null ? undefined : body;
  }, 60_000);

test.each([
  ['begun', (command: Record<string, unknown>) => command.commitTransaction !== undefined],
  ['dropped its database', (command: Record<string, unknown>) => command.dropDatabase !== undefined],
  ['deleted its audit events', (command: Record<string, unknown>) => command.delete === 'audit_events'],
])(
  'an erasure whose gateway is killed when it has %s is finished by another one',
  async (_at, isLast) => {
    const id = await makeLoaded('Erased');
    let isAsked = false;
    const { one, killed, close } = await startKilled((command) => isAsked && isLast(command));
    const { body: job } = await operator(one).post(`/organisations/${id}/erasure`, { confirm: 'Erased' });
    isAsked = true;
    await eventually(() => killed.isDone);
    await one.end;
    await close();
    expect(await rows('jobs').findOne({ _id: job.id })).toMatchObject({ state: 'running', open_of: id });
    // as if its lease were over
    await rows('jobs').updateOne({ _id: job.id }, { $set: { until: new Date(0) } });
    const other = await start();
    // it waits until the lease is over
    expect(await ended(other.url, job.id)).toMatchObject({ state: 'done', error: null });
    expect((await operator(other).get(`/organisations/${id}`)).status).toBe(404);
    const { databases } = await direct.getClient().db('admin').admin().listDatabases({ nameOnly: true });
    expect(databases.map(({ name }) => name)).not.toContain(databaseName(id));
    const audit = await rows('audit_events').find({ organisation_id: id }).toArray();
    expect(audit.map(({ action, actor }) => [action, actor.who])).toEqual([
      ['organisation.erased', 'operator:billing'],
    ]);
  },
  120_000,
);

test('a move is done as a job, tells its progress, and keeps every document; killed, another gateway resumes it', async () => {
  const id = await makeLoaded('Moved');
  const count = (uri: mongo.MongoClient): Promise<number> =>
    uri.db(databaseName(id)).collection('products').countDocuments();
  const before = await count(direct.getClient());
  let isAsked = false;
  const { one, killed, close } = await startKilled(
    (command) => isAsked && command.find === 'products' && String(command.$db).startsWith('org_'),
  );
  isAsked = true;
  const { status, body: job } = await operator(one).post(`/organisations/${id}/moves`, { to: 'eu' });
  expect([status, job.to]).toEqual([202, 'eu']);
  await eventually(() => killed.isDone);
  await one.end;
  await close();
  // it waits until the lease is over
  const other = await start();
  expect((await operator(other).post(`/organisations/${id}/moves`, { to: 'eu' })).body.id).toBe(job.id);
  expect((await operator(other).post(`/organisations/${id}/erasure`, { confirm: 'Moved' })).status).toBe(409);
  expect(await ended(other.url, job.id)).toMatchObject({ state: 'done', error: null });
  expect((await operator(other).get(`/organisations/${id}`)).body.cluster).toBe('eu');
  const there = await mongoose.createConnection(eu.uri).asPromise();
  expect(await count(there.getClient())).toBe(before);
  await there.close();
  const audit = await rows('audit_events').find({ organisation_id: id, action: /mov/ }).sort({ at: 1 }).toArray();
  expect(audit.map(({ action, actor }) => [action, actor.who])).toEqual([
    ['organisation.moving', 'operator:billing'],
    ['organisation.moved', 'operator:billing'],
  ]);
}, 120_000);

test('a gateway that stops leaves its move undone, and another one does it', async () => {
  const id = await makeLoaded('Left');
  const first = await start();
  const { body: job } = await operator(first).post(`/organisations/${id}/moves`, { to: 'eu' });
  await first.stop();
  const row = await rows('jobs').findOne({ _id: job.id });
  expect(['waiting', 'done']).toContain(row.state);
  const other = await start();
  expect(await ended(other.url, job.id)).toMatchObject({ state: 'done' });
}, 120_000);

test('of 200 organisations made by two callers while a gateway is killed, none is there twice and none half', async () => {
  const [one, other] = [await start(), await start()];
  const refs = Array.from({ length: 200 }, () => newRef());
  let made = 0;
  async function signUp(gateways: readonly Served[]): Promise<void> {
    for (const [at, external_ref] of refs.entries()) {
      for (let attempt = 0; ; attempt += 1) {
        const { url } = gateways[(at + attempt) % 2]!;
        const answer = await operator({ url })
          .post('/organisations', { name: `Signed up ${String(at)}`, external_ref })
          .catch(() => undefined);
        if (answer && answer.status < 300) break;
        if (attempt > 20) throw new Error(`not created: ${JSON.stringify(answer?.body)}`);
      }
      made += 1;
      if (made === 150) one.child.kill('SIGKILL');
    }
  }
  await Promise.all([signUp([one, other]), signUp([other, one])]);
  const found = await rows('organisations')
    .find({ external_ref: { $in: refs } })
    .toArray();
  expect(found).toHaveLength(200);
  expect(new Set(found.map(({ external_ref }) => external_ref)).size).toBe(200);
  const ids = found.map(({ _id }) => _id as string);
  const events = await rows('audit_events')
    .find({ organisation_id: { $in: ids }, action: 'organisation.created' })
    .toArray();
  // each with its audit event, which is written with it
  expect(events.map(({ organisation_id }) => organisation_id as string).sort()).toEqual(ids.sort());
}, 120_000);
