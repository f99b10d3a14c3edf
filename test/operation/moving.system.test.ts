import { randomUUID } from 'node:crypto';
import mongoose from 'mongoose';
import { openDatabaseProxy } from '../../faults/databaseProxy';
import type { Organisation } from '../../src/auth/principal';
import { compareAll, copyAll, claimTarget } from '../../src/database/moving/copy';
import { databaseName } from '../../src/database/organisationData';
import { settledUntil } from '../../src/database/openWrites';
import { type CommandLine, commandLine, finished } from '../cli/commandLine';
import { eventually } from '../http/eventually';
import { client } from '../support/client';
import { makeKey, makeNorthwind, makeOrganisation } from '../support/factories';
import { late, startGateway, type TestGateway } from '../support/gateway';
import { startDatabase } from './database';

/* Moves an organisation to another cluster while two gateways write to it and read it. */

const CONTROL_DATABASE = 'scopegate_moving';
const eu = late(startDatabase);
const there = late(() => mongoose.mongo.MongoClient.connect(eu.uri));
let gateways: readonly [TestGateway, TestGateway];
let cli: CommandLine;

beforeAll(async () => {
  // new organisations go to the cluster with the most room
  const environment = { CONTROL_DATABASE, MONGODB_CLUSTERS: `eu=${eu.uri}`, CLUSTER_FILES: '60000 eu=6000' };
  gateways = [await startGateway(environment), await startGateway(environment)];
  cli = commandLine(environment);
});
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await there.close();
  await eu.stop();
});

interface Written {
  readonly subject: string;
  readonly key: string;
  readonly body: Record<string, unknown>;
}

test('during a move every acknowledged write is stored once, reads continue, and answers are still replayed', async () => {
  const organisation = await makeNorthwind(gateways[0]);
  const { key } = await makeKey(gateways[0], organisation);
  const [acknowledged, refused, reads] = [[] as Written[], [] as unknown[], new Map<number, number>()];
  let isOver = false;
  const writers = gateways.flatMap((gateway, which) =>
    Array.from({ length: 3 }, async (_none, at) => {
      for (let turn = 0; !isOver; turn += 1) {
        const subject = `${String(which)}-${String(at)}-${String(turn)}`;
        const idempotencyKey = randomUUID();
        for (;;) {
          const call = client(gateways[(which + turn) % 2] ?? gateway, key);
          const { status, body, headers } = await call.post(
            '/requests',
            { text: subject, subject },
            { 'idempotency-key': idempotencyKey },
          );
          if (status === 201) {
            acknowledged.push({ subject, key: idempotencyKey, body: body as Written['body'] });
            break;
          }
          refused.push({ status, retry: headers.get('retry-after'), ...(body as object) });
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    }),
  );
  const readers = gateways.map(async (gateway) => {
    while (!isOver) {
      const { status } = await client(gateway, key).get('/products', {
        limit: '5',
        updated_since: '1970-01-01T00:00:00Z',
      });
      reads.set(status, (reads.get(status) ?? 0) + 1);
    }
  });
  await eventually(() => acknowledged.length > 20, 60_000);
  expect(await cli.spawned('org', 'move', organisation.id, '--to', 'eu')).toMatchObject({ code: 0 });
  const before = acknowledged.length;
  await eventually(() => acknowledged.length > before + 20, 60_000);
  isOver = true;
  await Promise.all([...writers, ...readers]);

  const stored = await there.db(databaseName(organisation.id)).collection('requests').find().toArray();
  const subjects = stored.map(({ subject }) => String(subject)).filter((subject) => /^\d-\d-\d+$/.test(subject));
  expect(subjects.sort()).toEqual(acknowledged.map(({ subject }) => subject).sort());
  expect([...reads.keys()]).toEqual([200]);
  expect(refused.length).toBeGreaterThan(0);
  for (const one of refused) {
    expect(one).toMatchObject({
      status: 503,
      retry: '5',
      code: 'unavailable',
      detail: expect.stringContaining('is being moved') as unknown,
    });
  }
  // the first was acknowledged by the old cluster, and its answer was moved too
  const [first] = acknowledged;
  const again = await client(gateways[1], key).post(
    '/requests',
    { text: first!.subject, subject: first!.subject },
    { 'idempotency-key': first!.key },
  );
  expect({ status: again.status, body: again.body }).toEqual({ status: 201, body: first!.body });
  expect(again.headers.get('idempotent-replayed')).toBe('true');
}, 240_000);

test('a move waits for writes in progress, and an older write that resumes afterwards stores nothing', async () => {
  const organisation = await makeOrganisation(gateways[0]);
  const { key } = await makeKey(gateways[0], organisation);
  const data = gateways[0].databases.organisationData(organisation);
  const call = client(gateways[0], key);
  expect((await call.post('/requests', { text: 'first', subject: 'first' })).status).toBe(201);
  const late = await data.slots.take();
  // a write that has passed its row, and commits while the fence waits for it
  const passed = await data.slots.take();
  let commit = (): void => undefined;
  const held = new Promise<void>((resolve) => (commit = resolve));
  let isInside = false;
  const under = data.transaction(
    async (session) => {
      await data.slots.pass(passed, session);
      await data.database.collection('requests').insertOne({ _id: 'under way' as never }, { session });
      isInside = true;
      await held;
    },
    { writes: [] },
  );
  await eventually(() => isInside);
  const moving = cli.spawned('org', 'move', organisation.id, '--to', 'eu');
  await eventually(async () => (await gateways[0].control.moving.movesOf(organisation.id))?.move !== undefined, 30_000);
  // not before this one has ended
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect((await gateways[0].control.organisations.find(organisation.id))?.cluster).toBe('default');
  commit();
  await under;
  expect(await moving).toMatchObject({ code: 0 });
  const rows = there.db(databaseName(organisation.id)).collection('requests');
  expect(await rows.countDocuments({ _id: 'under way' as never })).toBe(1);
  const client0 = gateways[0].databases.control.getClient();
  expect(await client0.withSession((session) => data.slots.pass(late, session))).toBe(false);
  // a gateway that still uses the old cluster
  await expect(data.slots.take()).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('is being moved') as unknown,
  });
  expect((await call.post('/requests', { text: 'second' })).status).toBe(201);
}, 60_000);

test('during a move no list returns a later time than before, and later writes get later times', async () => {
  const organisation = await makeOrganisation(gateways[0], { cluster: 'default' });
  const { key } = await makeKey(gateways[0], organisation);
  const data = gateways[0].databases.organisationData(organisation);
  const call = client(gateways[0], key);
  expect((await call.post('/products/bulk', { products: [{ sku: 'A', name: 'A' }] })).status).toBe(200);
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  let isCopying = false;
  const proxy = await openDatabaseProxy(eu.uri, {
    onReply: async (reply, command) => {
      if (command?.insert !== 'products') return reply;
      isCopying = true;
      await held;
      return reply;
    },
  });
  const through = { MONGODB_CLUSTERS: `eu=${proxy.uri}` };
  const moving = finished(cli.start(['org', 'move', organisation.id, '--to', 'eu', '--json'], through));
  await eventually(() => isCopying, 30_000);
  const first = await settledUntil(data);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await settledUntil(data)).toEqual(first);
  letGo();
  expect(await moving).toMatchObject({ code: 0 });
  await proxy.close();
  // a request that still uses the old cluster
  expect(await settledUntil(data)).toEqual(first);
  expect((await call.post('/products/bulk', { products: [{ sku: 'B', name: 'B' }] })).status).toBe(200);
  const { body } = await call.get('/products', { updated_since: first.toISOString() });
  expect((body as { data: { sku: string }[] }).data.map(({ sku }) => sku)).toContain('B');
}, 60_000);

test('a hold on times is not mistaken for a dead write', async () => {
  const organisation = await makeOrganisation(gateways[0]);
  const { key } = await makeKey(gateways[0], organisation);
  const data = gateways[0].databases.organisationData(organisation);
  expect((await client(gateways[0], key).post('/requests', { text: 'first' })).status).toBe(201);
  await data.slots.fence();
  await data.slots.hold();
  const first = await settledUntil(data);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await settledUntil(data)).toEqual(first);
  // unlike the row of a dead write
  const old = new Date(Date.now() - 1_000_000);
  await data.database.collection('open_writes').updateMany({}, { $set: { since: old } });
  expect(await settledUntil(data)).toEqual(old);
  expect(await settledUntil(data)).toEqual(old);
  await data.slots.letGo();
  expect((await settledUntil(data)).getTime()).toBeGreaterThan(first.getTime());
});

test('a mover that was replaced stores nothing in the new database', async () => {
  const { id } = await makeOrganisation(gateways[0], { cluster: 'default' });
  const { key } = await makeKey(gateways[0], { id } as Organisation);
  expect((await client(gateways[0], key).post('/products/bulk', { products: [{ sku: 'A', name: 'A' }] })).status).toBe(
    200,
  );
  const source = gateways[0].databases.organisationData({ id, cluster: 'default' });
  const target = await gateways[0].databases.open({ id, cluster: 'eu' });
  const { signal } = new AbortController();
  const first = { source, target, mover: 'first', signal, onProgress: () => undefined };
  const second = { ...first, mover: 'second' };
  await claimTarget(first);
  await claimTarget(second);
  const copied = there.db(databaseName(id)).collection('products');
  await expect(copyAll(first)).rejects.toThrow('another process has taken over the move');
  expect(await copied.countDocuments()).toBe(0);
  await copyAll(second);
  expect(await copied.countDocuments()).toBe(1);
});

test('a copy is whole and has all indexes, whichever ranges a killed attempt has left out', async () => {
  const { id } = await makeOrganisation(gateways[0], { cluster: 'default' });
  const source = gateways[0].databases.organisationData({ id, cluster: 'default' });
  const target = await gateways[0].databases.open({ id, cluster: 'eu' });
  const [from, to] = [source, target].map(({ database }) => database);
  // more than the lanes take at a time, with ids of several types
  const rows = Array.from({ length: 7500 }, (_none, at) => ({ _id: (at % 2 ? at : `row ${String(at)}`) as never, at }));
  await from!.collection('rows').insertMany(rows);
  await from!.collection('rows').createIndexes([{ key: { at: 1 }, unique: true }]);
  const { signal } = new AbortController();
  const done: number[] = [];
  const copying = { source, target, mover: 'only', signal, onProgress: (count: number) => done.push(count) };
  await claimTarget(copying);
  // ranges in the middle and at the end are there
  const sorted = await from!.collection('rows').find().sort({ _id: 1 }).toArray();
  await to!.collection('rows').insertMany([...sorted.slice(2100, 3300), ...sorted.slice(7000)]);
  await copyAll(copying);
  expect(done.at(-1)).toBe(7500);
  await expect(compareAll(copying)).resolves.toMatchObject({ documents: 7500 });
  await to!.collection('rows').dropIndex('at_1');
  const filtered = { key: { at: 1 }, unique: true, partialFilterExpression: { at: { $gt: 0 } } };
  await to!.collection('rows').createIndexes([filtered]);
  await expect(compareAll(copying)).rejects.toThrow('the indexes of rows differ');
  await to!.dropDatabase();
});
