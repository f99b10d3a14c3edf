import type { mongo } from 'mongoose';
import { databaseName } from '../../src/database/organisationData';
import { eventually } from '../http/eventually';
import { killedAt } from '../support/kills';
import { killingScene } from './killing';
import { newRef, operator } from './operator';

/* Gateways that are killed while they do what an operator asked for, and others that go on; at more points: jobKills. */

const scene = killingScene();

test.each([
  ['begun', (command: Record<string, unknown>) => command.commitTransaction !== undefined],
  ['dropped its database', (command: Record<string, unknown>) => command.dropDatabase !== undefined],
  ['deleted its audit events', (command: Record<string, unknown>) => command.delete === 'audit_events'],
])(
  'an erasure whose gateway is killed when it has %s is finished by another one',
  async (_at, isLast) => {
    const id = await scene().makeLoaded('Erased');
    let isAsked = false;
    const { one, killed, close } = await scene().startKilled((command) => isAsked && isLast(command));
    const { body: job } = await operator(one).post(`/organisations/${id}/erasure`, { confirm: 'Erased' });
    isAsked = true;
    await eventually(() => killed.isDone);
    await one.end;
    await close();
    expect(await scene().rows('jobs').findOne({ _id: job.id })).toMatchObject({ state: 'running', ended_at: null });
    // as if its lease were over
    await scene()
      .rows('jobs')
      .updateOne({ _id: job.id }, { $set: { until: new Date(0) } });
    const other = await scene().start();
    // it waits until the lease is over
    expect(await scene().ended(other, job.id)).toMatchObject({ state: 'done', error: null });
    expect((await operator(other).get(`/organisations/${id}`)).status).toBe(404);
    const { databases } = await scene().here.db('admin').admin().listDatabases({ nameOnly: true });
    expect(databases.map(({ name }) => name)).not.toContain(databaseName(id));
    const audit = await scene().rows('audit_events').find({ organisation_id: id }).toArray();
    expect(audit.map(({ action, actor }) => [action, actor.who])).toEqual([
      ['organisation.erased', 'operator:billing'],
    ]);
  },
  120_000,
);

test('a move is done as a job, tells its progress, and keeps every document; killed, another gateway resumes it', async () => {
  const id = await scene().makeLoaded('Moved');
  const count = (uri: mongo.MongoClient): Promise<number> =>
    uri.db(databaseName(id)).collection('products').countDocuments();
  const before = await count(scene().here);
  let isAsked = false;
  const { one, killed, close } = await scene().startKilled(
    (command) => isAsked && command.find === 'products' && String(command.$db).startsWith('org_'),
  );
  isAsked = true;
  const { status, body: job } = await operator(one).post(`/organisations/${id}/moves`, { to: 'eu' });
  expect([status, job.to]).toEqual([202, 'eu']);
  await eventually(() => killed.isDone);
  await one.end;
  await close();
  // it waits until the lease is over
  const other = await scene().start();
  expect((await operator(other).post(`/organisations/${id}/moves`, { to: 'eu' })).body.id).toBe(job.id);
  expect((await operator(other).post(`/organisations/${id}/erasure`, { confirm: 'Moved' })).status).toBe(409);
  expect(await scene().ended(other, job.id)).toMatchObject({ state: 'done', error: null });
  expect((await operator(other).get(`/organisations/${id}`)).body.cluster).toBe('eu');
  expect(await count(scene().there)).toBe(before);
  const audit = await scene()
    .rows('audit_events')
    .find({ organisation_id: id, action: /mov/ })
    .sort({ at: 1 })
    .toArray();
  expect(audit.map(({ action, actor }) => [action, actor.who])).toEqual([
    ['organisation.moving', 'operator:billing'],
    ['organisation.moved', 'operator:billing'],
  ]);
}, 120_000);

test('a gateway that stops leaves its move undone, and another one does it', async () => {
  const id = await scene().makeLoaded('Left');
  const first = await scene().start();
  const { body: job } = await operator(first).post(`/organisations/${id}/moves`, { to: 'eu' });
  await first.stop();
  const row = await scene().rows('jobs').findOne({ _id: job.id });
  expect(['waiting', 'done']).toContain(row.state);
  const other = await scene().start();
  expect(await scene().ended(other, job.id)).toMatchObject({ state: 'done' });
}, 120_000);

test('a move that was begun on the command line and killed is finished by a gateway, also by one without tokens', async () => {
  const id = await scene().makeLoaded('Begun');
  const products = (on: mongo.MongoClient) =>
    on.db(databaseName(id)).collection('products').find().sort({ _id: 1 }).toArray();
  const before = await products(scene().here);
  expect(await killedAt(scene().cli, ['org', 'move', id, '--to', 'eu'], 2)).toBeDefined();
  // as if it were not seen for a while
  await scene()
    .rows('organisations')
    .updateOne({ _id: id }, { $set: { 'move.seen_at': new Date(0) } });
  await scene().start({ OPERATOR_TOKENS: '' });
  const row = () => scene().rows('organisations').findOne({ _id: id });
  await eventually(async () => (await row())!.move === undefined, 60_000);
  expect(await row()).toMatchObject({ cluster: 'eu', copies: [{ cluster: 'default', complete: true }] });
  expect(await products(scene().there)).toEqual(before);
  await eventually(async () => (await scene().rows('jobs').findOne({ organisation_id: id }))!.state === 'done');
  const audit = await scene().rows('audit_events').find({ organisation_id: id }).sort({ at: 1 }).toArray();
  const who = audit.map(({ action, actor }) => [action, String(actor.who).replace(/^cli:.*/, 'cli')]);
  expect(who.slice(-3)).toEqual([
    ['organisation.moving', 'cli'],
    ['job.created', 'system:moves'],
    ['organisation.moved', 'system:moves'],
  ]);
}, 120_000);

test('of organisations made by two callers while a gateway is killed, none is there twice and none half', async () => {
  const refs = Array.from({ length: 60 }, () => newRef());
  await scene().signUp(refs, 50);
  await scene().expectSignedUp(refs);
}, 120_000);
