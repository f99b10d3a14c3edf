import { join } from 'node:path';
import type { mongo } from 'mongoose';
import { openDatabaseProxy } from '../../../faults/databaseProxy';
import { databaseName } from '../../../src/mongo/databaseNames';
import { commandLine, NORTHWIND, serve, type Served } from '../../cli/commandLine';
import { eventually } from '../../api/http/eventually';
import type { Json } from '../../support/client';
import { driver, late } from '../../support/gateway';
import { newRef, operator, TOKENS, untilEnded } from './operator';

/* Gateways in processes of their own that are killed while they do what an operator asked for, and others that go on. */

const here = driver();
const environment = () => ({ ...TOKENS, EVENTS: 'off', LOG_LEVEL: 'warn' });
const cli = late(() => Promise.resolve(commandLine(environment())));
const serving: Served[] = [];
afterEach(() => Promise.all(serving.splice(0).map((one) => one.stop())));

async function start(more: Record<string, string> = {}): Promise<Served> {
  const one = await serve(cli, [], { RATE_LIMIT_PER_MINUTE: '1000000', ...more });
  serving.push(one);
  return one;
}

/** A gateway that takes jobs once `isAsked` is set, and is killed as soon as the database has then answered a command that `isLast` accepts. */
async function startKilled(isLast: (command: Record<string, unknown>) => boolean) {
  const killed = { isAsked: false, isDone: false };
  const proxy = await openDatabaseProxy(process.env.TEST_MONGODB_URI!, {
    onReply: async (reply, command) => {
      // or what it does could be over before the caller has its answer
      if (command?.findAndModify === 'jobs') await eventually(() => killed.isAsked, 600_000);
      if (killed.isDone || !killed.isAsked || !command || !isLast(command)) return killed.isDone ? undefined : reply;
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
  const { id } = await cli.json<{ id: string }>('org', 'create', '--name', name);
  await cli.json('import', '--org', id, join(NORTHWIND, 'products.ndjson'));
  return id;
}

test.each([
  ['begun', (command: Record<string, unknown>) => command.commitTransaction !== undefined],
  ['dropped its database', (command: Record<string, unknown>) => command.dropDatabase !== undefined],
  ['deleted its audit events', (command: Record<string, unknown>) => command.delete === 'audit_events'],
])('an erasure whose gateway is killed when it has %s is finished by another one', async (_at, isLast) => {
  const id = await makeLoaded('Erased');
  const { one, killed, close } = await startKilled(isLast);
  const { body: job } = await operator(one).post(`/organisations/${id}/erasure`, { confirm: 'Erased' });
  killed.isAsked = true;
  await eventually(() => killed.isDone);
  await one.end;
  await close();
  expect(await rows('jobs').findOne({ _id: job.id })).toMatchObject({ state: 'running', ended_at: null });
  // as if its lease were over
  await rows('jobs').updateOne({ _id: job.id }, { $set: { until: new Date(0) } });
  const other = await start();
  // it waits until the lease is over
  expect(await untilEnded(other, job.id)).toMatchObject({ state: 'done', error: null });
  expect((await operator(other).get(`/organisations/${id}`)).status).toBe(404);
  const { databases } = await here.db('admin').admin().listDatabases({ nameOnly: true });
  expect(databases.map(({ name }) => name)).not.toContain(databaseName(id));
  const audit = await rows('audit_events').find({ organisation_id: id }).toArray();
  expect(audit.map(({ action, actor }) => [action, actor.who])).toEqual([['organisation.erased', 'operator:billing']]);
});

test('organisations that two callers create while gateways are killed exist once each, with their audit event', async () => {
  const refs = Array.from({ length: 30 }, () => newRef());
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
      if (answered % 25 !== 0) continue;
      const victim = (answered / 25) % 2;
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
});
