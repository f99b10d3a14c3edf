import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import mongoose from 'mongoose';
import { openDatabaseProxy, replyWith } from '../../faults/databaseProxy';
import { databaseName } from '../../src/database/organisationData';
import { type OwnDatabase, startDatabase } from '../operation/database';
import { killedAt, type KillOptions } from '../support/kills';
import { type CommandLine, commandLine, finished, NORTHWIND } from './commandLine';

/* `org move` and `org drop-copy`, killed, stopped and interrupted after each change that they make to either cluster. */

let eu: OwnDatabase;
let here: mongoose.Connection;
let there: mongoose.Connection;
let cli: CommandLine;

beforeAll(async () => {
  eu = await startDatabase();
  here = await mongoose.createConnection(process.env.TEST_MONGODB_URI!).asPromise();
  there = await mongoose.createConnection(eu.uri).asPromise();
  cli = commandLine({ MONGODB_CLUSTERS: `eu=${eu.uri}` });
});
afterAll(async () => {
  await Promise.all([here.close(), there.close()]);
  await eu.stop();
});

const EU: KillOptions['server'] = {
  get uri() {
    return eu.uri;
  },
  through: (uri) => ({ MONGODB_CLUSTERS: `eu=${uri}` }),
};

interface Organisation {
  readonly id: string;
  readonly name: string;
}

async function organisation(name = `Moved ${randomBytes(4).toString('hex')}`): Promise<Organisation> {
  const { id } = await cli.json<Organisation>('org', 'create', '--name', name, '--cluster', 'default');
  await cli.json('import', '--org', id, join(NORTHWIND, 'products.ndjson'));
  return { id, name };
}

const databaseOf = (connection: mongoose.Connection, { id }: Organisation): mongoose.mongo.Db =>
  connection.getClient().db(databaseName(id));

/** Every document and index of an organisation on a cluster, without the rows that writes pass. */
async function contents(connection: mongoose.Connection, of: Organisation): Promise<Record<string, unknown>> {
  const database = databaseOf(connection, of);
  const names = (await database.listCollections().toArray())
    .map(({ name }) => name)
    .filter((name) => name !== 'open_writes');
  const all = names.sort().map(async (name) => {
    const rows = await database.collection(name).find().sort({ _id: 1 }).toArray();
    const indexes = (await database.collection(name).indexes()).map(({ name: index }) => index).sort();
    return [name, { rows, indexes }] as const;
  });
  return Object.fromEntries(await Promise.all(all));
}

const show = ({ id }: Organisation): Promise<Record<string, unknown>> => cli.json('org', 'show', id);
const writes = ({ id }: Organisation) => cli.run('import', '--org', id, join(NORTHWIND, 'customers.ndjson'));
const move = ({ id }: Organisation): string[] => ['org', 'move', id, '--to', 'eu'];

/** Lets a process that was killed appear to have been so for a while. */
async function age({ id }: Organisation): Promise<void> {
  const rows = here.useDb(cli.controlDatabase).collection<{ _id: string }>('organisations');
  const before = new Date(Date.now() - 60_000);
  await rows.updateOne({ _id: id, move: { $exists: true } }, { $set: { 'move.seen_at': before } });
  await rows.updateOne({ _id: id, copies: { $exists: true } }, { $set: { 'copies.$[].left_at': new Date(0) } });
}

describe.each([['default'], ['eu']])('killed after each change on cluster %s', (cluster) => {
  const options: KillOptions = cluster === 'eu' ? { server: EU } : {};

  test('is continued by the same command', async () => {
    const steps: string[] = [];
    for (let nth = 1; ; nth += 1) {
      const one = await organisation();
      const before = await contents(here, one);
      const killed = await killedAt(cli, move(one), nth, options);
      if (killed) steps.push(killed.at);
      await age(one);
      const isDone = (await show(one)).cluster === 'eu';
      const again = await cli.run(...move(one));
      expect({ killed, ...again }).toMatchObject({ killed, code: isDone ? 1 : 0 });
      expect({ killed, is: await contents(there, one) }).toEqual({ killed, is: before });
      expect(await show(one)).toMatchObject({ cluster: 'eu', copies: [{ cluster: 'default', complete: true }] });
      expect(await show(one)).not.toHaveProperty('move');
      expect(await writes(one)).toMatchObject({ code: 0 });
      if (!killed) break;
    }
    expect(steps).toEqual(
      expect.arrayContaining(
        cluster === 'eu'
          ? [
              'delete open_writes',
              'insert open_writes',
              'create products',
              'createIndexes products',
              'commitTransaction 1',
            ]
          : ['commitTransaction 1', 'delete open_writes', 'update open_writes', 'collMod products'],
      ),
    );
  }, 600_000);

  test('is undone by --undo', async () => {
    for (let nth = 1; ; nth += 1) {
      const one = await organisation();
      const before = await contents(here, one);
      const killed = await killedAt(cli, move(one), nth, options);
      await age(one);
      if ((await show(one)).cluster === 'eu') break;
      expect({ killed, code: (await writes(one)).code }).toEqual({ killed, code: 1 });
      const undone = await cli.run('org', 'move', one.id, '--undo');
      expect({ killed, ...undone }).toMatchObject({ killed, code: 0 });
      expect({ killed, is: await contents(here, one) }).toEqual({ killed, is: before });
      expect({ killed, is: await contents(there, one) }).toEqual({ killed, is: {} });
      const shown = await show(one);
      expect({ killed, shown }).toEqual({ killed, shown: { ...shown, cluster: 'default', state: 'active' } });
      expect(Object.keys(shown)).not.toEqual(expect.arrayContaining(['move']));
      expect({ killed, code: (await writes(one)).code }).toEqual({ killed, code: 0 });
      await databaseOf(here, one)
        .collection('products')
        .insertOne({ _id: 'by another program' as never });
    }
  }, 600_000);

  test('interrupted, it undoes itself', async () => {
    for (let nth = 1; ; nth += 1) {
      const one = await organisation();
      const before = await contents(here, one);
      const killed = await killedAt(cli, move(one), nth, { ...options, signal: 'SIGINT' });
      const { cluster: is } = await show(one);
      // the switch was under way
      if (is === 'eu') break;
      expect(killed).toMatchObject({ code: 130, stderr: expect.stringContaining('the move is undone') as unknown });
      expect({ killed, is: await contents(here, one) }).toEqual({ killed, is: before });
      expect({ killed, is: await contents(there, one) }).toEqual({ killed, is: {} });
      expect({ killed, code: (await writes(one)).code }).toEqual({ killed, code: 0 });
    }
  }, 600_000);
});

test('a process that was taken for dead, and goes on, changes nothing any more', async () => {
  for (const last of ['insert', 'commitTransaction', 'hello']) {
    const one = await organisation();
    // stopped at its first batch, at the end of that, and when it waits for the clock before the switch
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    let reached = (): void => undefined;
    const stopped = new Promise<void>((resolve) => (reached = resolve));
    let inserts = 0;
    const proxy = await openDatabaseProxy(eu.uri, {
      onReply: async (reply, command) => {
        const [name = ''] = Object.keys(command ?? {});
        if (name === 'insert' && command?.insert === 'products') inserts += 1;
        const isIt =
          name === last &&
          (last === 'insert' ? inserts === 1 : inserts > 0) &&
          (last !== 'hello' || isQuestion(command));
        if (!isIt) return reply;
        reached();
        await held;
        return reply;
      },
    });
    const first = cli.start(move(one), { MONGODB_CLUSTERS: `eu=${proxy.uri}` });
    const ended = finished(first);
    await stopped;
    first.kill('SIGSTOP');
    await age(one);
    expect({ last, ...(await cli.run(...move(one))) }).toMatchObject({
      last,
      code: 0,
      stderr: expect.stringContaining('waiting') as unknown,
    });
    // what was written since must stay
    expect(await writes(one)).toMatchObject({ code: 0 });
    const after = await contents(there, one);
    first.kill('SIGCONT');
    letGo();
    const { code, stderr } = await ended;
    expect({ last, code }).toEqual({ last, code: 1 });
    expect(stderr).toContain('is on cluster eu now');
    expect(await contents(there, one)).toEqual(after);
    expect(await show(one)).toMatchObject({ cluster: 'eu' });
    await proxy.close();
  }
}, 120_000);

/** Not one of the driver's own, which has its topology version. */
function isQuestion(command: Readonly<Record<string, unknown>> | undefined): boolean {
  return (
    command !== undefined &&
    command.topologyVersion === undefined &&
    command.client === undefined &&
    command.lsid !== undefined
  );
}

test('a copy that differs is found, and the move is undone', async () => {
  const one = await organisation();
  const copy = databaseOf(there, one).collection<{ _id: string; name: string }>('products');
  const proxy = await openDatabaseProxy(eu.uri, {
    onReply: async (reply, command) => {
      if (Object.keys(command ?? {})[0] === 'commitTransaction') {
        const row = await copy.findOne({});
        if (row) await copy.updateOne({ _id: row._id }, { $set: { name: `${row.name}!` } });
      }
      return reply;
    },
  });
  const child = cli.start(move(one), { MONGODB_CLUSTERS: `eu=${proxy.uri}` });
  const { code, stderr } = await finished(child);
  await proxy.close();
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /the copy of products "[0-9a-f-]{36}" differs; the move is undone, and writes go on on cluster default/,
    ) as unknown,
  });
  expect(await contents(there, one)).toEqual({});
  expect(await writes(one)).toMatchObject({ code: 0 });
});

test('the switch waits until the new cluster is past every time that the old one gave out, up to 30 s', async () => {
  const one = await organisation();
  let behind = 4000;
  const proxy = await openDatabaseProxy(eu.uri, {
    onReply: (reply, command) => {
      if (command?.hello === undefined && command?.ismaster === undefined) return reply;
      const t = Math.floor((Date.now() - behind) / 1000);
      const operationTime = new mongoose.mongo.Timestamp({ t, i: 1 });
      return replyWith(reply, { localTime: new Date(Date.now() - behind), operationTime });
    },
  });
  const environment = { MONGODB_CLUSTERS: `eu=${proxy.uri}` };
  const { stdout } = await finished(cli.start([...move(one), '--json'], environment));
  expect((JSON.parse(stdout) as { refused_ms: number }).refused_ms).toBeGreaterThan(3900);
  behind = 40_000;
  const other = await organisation();
  const { code, stderr } = await finished(cli.start(move(other), environment));
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/clock of cluster eu is (39|40|41) s behind/) as unknown,
  });
  expect(await show(other)).not.toHaveProperty('move');
  await proxy.close();
}, 60_000);

describe('is refused in one sentence, and changes nothing', () => {
  test.each<[string, string[], string, number]>([
    ['neither --to nor --undo', [], 'give either --to CLUSTER or --undo', 2],
    ['both', ['--to', 'eu', '--undo'], 'give either --to CLUSTER or --undo', 2],
    ['an unknown cluster', ['--to', 'us'], 'unknown cluster us; clusters are default, eu', 2],
    ['the cluster where it is', ['--to', 'default'], 'is on cluster default already', 1],
    ['--undo of nothing', ['--undo'], 'is not being moved', 1],
  ])('%s', async (_what, args, message, code) => {
    const one = await organisation();
    const said = await cli.run('org', 'move', one.id, ...args);
    expect(said).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) as unknown });
    expect(await show(one)).toEqual({ ...(await show(one)), cluster: 'default' });
    expect(await writes(one)).toMatchObject({ code: 0 });
  });

  test('a database there that no move has left', async () => {
    const one = await organisation();
    await databaseOf(there, one).collection('mine').insertOne({});
    expect(await cli.run(...move(one))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('which no move has left') as unknown,
    });
    expect(Object.keys(await contents(there, one))).toEqual(['mine']);
  });

  test('a cluster that is full', async () => {
    const own = commandLine({ MONGODB_CLUSTERS: `eu=${eu.uri}`, CLUSTER_FILES: '60000 eu=10' });
    const { id } = await own.json<Organisation>('org', 'create', '--name', 'One', '--cluster', 'default');
    expect(await own.run('org', 'create', '--name', 'Two', '--cluster', 'eu')).toMatchObject({ code: 1 });
    expect(await own.run('org', 'move', id, '--to', 'eu')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cluster eu is full') as unknown,
    });
  });

  test('while another process moves it, or it is being erased; and it is not erased meanwhile', async () => {
    const one = await organisation();
    expect(await killedAt(cli, move(one), 1)).toBeDefined();
    const alive = expect.stringMatching(/another process is moving .* try again in \d+ s/) as unknown;
    expect(await cli.run(...move(one))).toMatchObject({ code: 1, stderr: alive });
    expect(await cli.run('org', 'move', one.id, '--undo')).toMatchObject({ code: 1, stderr: alive });
    const erase = ['org', 'erase', one.id, '--confirm', one.name, '--no-export'];
    expect(await cli.run(...erase)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is being moved to cluster eu') as unknown,
    });
    await age(one);
    const doctor = await cli.run('doctor');
    expect(doctor.stdout).toMatch(/moves: the process that moved Moved .* to cluster eu has ended/);
    expect(doctor.stdout).toContain(`to continue, run scopegate org move ${one.id} --to eu`);
    expect(await cli.run('org', 'move', one.id, '--undo')).toMatchObject({ code: 0 });
    expect(await cli.run(...erase)).toMatchObject({ code: 0 });
    expect(await cli.run(...move(one))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not found') as unknown,
    });
  });
});

test('old copies: named, counted, refused to other programs, in the way of a move back, and dropped', async () => {
  const one = await organisation();
  await cli.json(...move(one));
  const old = databaseOf(here, one);
  await expect(old.collection('products').insertOne({ _id: 'x' as never })).rejects.toMatchObject({ code: 121 });
  await databaseOf(there, one)
    .collection('products')
    .insertOne({ _id: 'x' as never });
  const doctor = await cli.run('doctor');
  const line = doctor.stdout
    .split('\n')
    .find((text) => text.includes('moves: old copies, which scopegate org drop-copy deletes'));
  expect(line).toContain(`${databaseName(one.id)} on cluster default since`);
  expect(doctor.stdout).not.toContain(`${databaseName(one.id)} on cluster default of an organisation`);
  const back = ['org', 'move', one.id, '--to', 'default'];
  expect(await cli.run(...back)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('cluster default still has the copy') as unknown,
  });
  expect(await cli.run('org', 'drop-copy', one.id, '--confirm', 'Other')).toMatchObject({ code: 2 });
  const drop = ['org', 'drop-copy', one.id, '--confirm', one.name];
  // requests that began before the move may read it
  const waiting = cli.start(drop);
  const said = finished(waiting);
  let text = '';
  waiting.stderr?.on('data', (bytes: Buffer) => (text += bytes.toString()));
  while (!text.includes('requests that began before the move')) await new Promise((resolve) => setTimeout(resolve, 20));
  waiting.kill('SIGINT');
  expect(await said).toMatchObject({ code: 130 });
  expect(Object.keys(await contents(here, one))).toContain('products');
  await age(one);
  expect(await cli.json(...drop)).toEqual({ id: one.id, dropped: ['default'] });
  expect(await cli.json(...drop)).toEqual({ id: one.id, dropped: [] });
  expect(await contents(here, one)).toEqual({});
  expect(await show(one)).not.toHaveProperty('copies');
  await cli.json(...back);
  expect((await contents(here, one)).products).toEqual((await contents(there, one)).products);
  const events = await cli.json<{ action: string }[]>('audit', '--org', one.id);
  expect(events.map(({ action }) => action).reverse()).toEqual([
    ...['organisation.created', 'organisation.moving', 'organisation.moved', 'organisation.copy_dropped'],
    ...['organisation.moving', 'organisation.moved'],
  ]);
  // erased on both
  expect(await cli.run('org', 'erase', one.id, '--confirm', one.name, '--no-export')).toMatchObject({ code: 0 });
  for (const cluster of [here, there]) expect(await contents(cluster, one)).toEqual({});
}, 60_000);
