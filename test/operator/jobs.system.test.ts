import { join } from 'node:path';
import mongoose, { type mongo } from 'mongoose';
import { openDatabaseProxy } from '../../faults/databaseProxy';
import { databaseName } from '../../src/database/organisationData';
import { commandLine, NORTHWIND, serve, type Served } from '../cli/commandLine';
import { eventually } from '../http/eventually';
import { startDatabase } from '../operation/database';
import type { Json } from '../support/client';
import { driver, late } from '../support/gateway';
import { killedAt } from '../support/kills';
import { newRef, operator, TOKENS } from './operator';

/* Gateways in processes of their own that are killed while they do what an operator asked for, and others that go on. */

const eu = late(startDatabase);
const here = driver();
const there = late(() => mongoose.mongo.MongoClient.connect(eu.uri));
const environment = () => ({ ...TOKENS, EVENTS: 'off', MONGODB_CLUSTERS: `eu=${eu.uri}`, LOG_LEVEL: 'warn' });
const cli = late(() => Promise.resolve(commandLine(environment())));
afterAll(async () => {
  await there.close();
  await eu.stop();
});
/** Cluster eu, whose changes a killed command counts. */
const toEu = {
  get uri() {
    return eu.uri;
  },
  through: (uri: string) => ({ MONGODB_CLUSTERS: `eu=${uri}` }),
};
const serving: Served[] = [];
afterEach(() => Promise.all(serving.splice(0).map((one) => one.stop())));

async function start(more: Record<string, string> = {}): Promise<Served> {
  const one = await serve(cli, [], { RATE_LIMIT_PER_MINUTE: '1000000', ...more });
  serving.push(one);
  return one;
}

/** A gateway that is killed as soon as the database has answered a command that `isLast` accepts. */
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

/** Rows of the control database. */
const rows = (name: string): mongo.Collection<Json> => here.db(cli.controlDatabase).collection<Json>(name);

async function makeLoaded(name: string): Promise<string> {
  const { id } = await cli.json<{ id: string }>('org', 'create', '--name', name, '--cluster', 'default');
  await cli.json('import', '--org', id, join(NORTHWIND, 'products.ndjson'));
  return id;
}

const ended = ({ url }: Pick<Served, 'url'>, id: string): Promise<Json> =>
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
    expect(await rows('jobs').findOne({ _id: job.id })).toMatchObject({ state: 'running', ended_at: null });
    // as if its lease were over
    await rows('jobs').updateOne({ _id: job.id }, { $set: { until: new Date(0) } });
    const other = await start();
    // it waits until the lease is over
    expect(await ended(other, job.id)).toMatchObject({ state: 'done', error: null });
    expect((await operator(other).get(`/organisations/${id}`)).status).toBe(404);
    const { databases } = await here.db('admin').admin().listDatabases({ nameOnly: true });
    expect(databases.map(({ name }) => name)).not.toContain(databaseName(id));
    const audit = await rows('audit_events').find({ organisation_id: id }).toArray();
    expect(audit.map(({ action, actor }) => [action, actor.who])).toEqual([
      ['organisation.erased', 'operator:billing'],
    ]);
  },
  120_000,
);

test('a move is done as a job and keeps every document; if its gateway is killed, another resumes it', async () => {
  const id = await makeLoaded('Moved');
  const count = (uri: mongo.MongoClient): Promise<number> =>
    uri.db(databaseName(id)).collection('products').countDocuments();
  const before = await count(here);
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
  expect(await ended(other, job.id)).toMatchObject({ state: 'done', error: null });
  expect((await operator(other).get(`/organisations/${id}`)).body.cluster).toBe('eu');
  expect(await count(there)).toBe(before);
  const audit = await rows('audit_events').find({ organisation_id: id }).sort({ at: 1 }).toArray();
  const ofMove = audit.filter(({ action }) => action.startsWith('organisation.mov'));
  expect(ofMove.map(({ action, actor }) => [action, actor.who])).toEqual([
    ['organisation.moving', 'operator:billing'],
    ['organisation.moved', 'operator:billing'],
  ]);
}, 120_000);

test('a gateway that stops undoes its move, and another one makes it', async () => {
  const id = await makeLoaded('Left');
  const first = await start();
  const { body: job } = await operator(first).post(`/organisations/${id}/moves`, { to: 'eu' });
  await first.stop();
  const row = await rows('jobs').findOne({ _id: job.id });
  expect(['waiting', 'done']).toContain(row.state);
  const other = await start();
  expect(await ended(other, job.id)).toMatchObject({ state: 'done' });
}, 120_000);

test.each([
  ['closed the old database', 'collMod products', 5, {}],
  ['copied its first documents', 'commitTransaction 1', 5, { server: toEu }],
])(
  'a move that was killed on the command line when it had %s is finished by a gateway, even one without tokens',
  async (_what, at, nth, options) => {
    const id = await makeLoaded('Begun');
    const products = (on: mongo.MongoClient) =>
      on.db(databaseName(id)).collection('products').find().sort({ _id: 1 }).toArray();
    const before = await products(here);
    expect(await killedAt(cli, ['org', 'move', id, '--to', 'eu'], nth, options)).toMatchObject({ at });
    // as if it were not seen for a while
    await rows('organisations').updateOne({ _id: id }, { $set: { 'move.seen_at': new Date(0) } });
    await start({ OPERATOR_TOKENS: '' });
    const row = () => rows('organisations').findOne({ _id: id });
    await eventually(async () => (await row())!.move === undefined, 60_000);
    expect(await row()).toMatchObject({ cluster: 'eu', copies: [{ cluster: 'default', complete: true }] });
    expect(await products(there)).toEqual(before);
    await eventually(async () => (await rows('jobs').findOne({ organisation_id: id }))!.state === 'done');
    const audit = await rows('audit_events').find({ organisation_id: id }).sort({ at: 1 }).toArray();
    const who = audit.map(({ action, actor }) => [action, String(actor.who).replace(/^cli:.*/, 'cli')]);
    expect(who.slice(-3)).toEqual([
      ['organisation.moving', 'cli'],
      ['job.created', 'system:moves'],
      ['organisation.moved', 'system:moves'],
    ]);
  },
  120_000,
);

test('organisations that two callers create while gateways are killed exist once each, with their audit event', async () => {
  const refs = Array.from({ length: 60 }, () => newRef());
  const gateways = [await start(), await start()];
  let answered = 0;
  const signUp = async (which: number): Promise<void> => {
    for (const [at, external_ref] of refs.entries()) {
      const body = { name: `Signed up ${String(at)}`, external_ref };
      let attempt = which + at;
      const make = () =>
        operator(gateways[attempt++ % 2]!)
          .post('/organisations', body)
          .catch(() => undefined);
      await eventually(async () => ((await make())?.status ?? 500) < 300, 60_000);
      answered += 1;
      if (answered % 50 !== 0) continue;
      const victim = (answered / 50) % 2;
      gateways[victim]!.child.kill('SIGKILL');
      gateways[victim] = await start();
    }
  };
  await Promise.all([signUp(0), signUp(1)]);
  const found = await rows('organisations')
    .find({ external_ref: { $in: refs } })
    .toArray();
  expect(found.map(({ external_ref }) => external_ref as string).sort()).toEqual(refs.toSorted());
  const ids = found.map(({ _id }) => _id as string);
  // written with the organisation
  const created = { organisation_id: { $in: ids }, action: 'organisation.created' };
  const events = await rows('audit_events').find(created).toArray();
  expect(events.map(({ organisation_id }) => organisation_id as string).sort()).toEqual(ids.sort());
}, 120_000);
