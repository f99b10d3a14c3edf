import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mongoose from 'mongoose';
import { openDatabaseProxy } from '../../faults/databaseProxy';
import { databaseName } from '../../src/database/organisationData';
import { killedAt } from '../support/kills';
import { type CommandLine, commandLine, makeOrganisation, NORTHWIND } from './commandLine';

/* `org create` and `org erase`, killed after each change that they make to the database. */

let server: mongoose.Connection;
beforeAll(async () => {
  server = await mongoose.createConnection(process.env.TEST_MONGODB_URI!).asPromise();
});
afterAll(() => server.close());

async function databases(): Promise<string[]> {
  const { databases: found } = await server.getClient().db('admin').admin().listDatabases({ nameOnly: true });
  return found.map(({ name }) => name);
}

const controlRows = (cli: CommandLine) =>
  server.useDb(cli.controlDatabase).collection<{ _id: string }>('organisations');

/** The organisations of the server that the control database does not list. */
async function unlisted(before: readonly string[], cli: CommandLine): Promise<string[]> {
  const listed = await cli.json<{ id: string }[]>('org', 'list');
  const known = [...before, ...listed.map(({ id }) => databaseName(id))];
  return (await databases()).filter((name) => name.startsWith('org_') && !known.includes(name));
}

test('org create, killed anywhere, lists nothing half-made, and the next one removes what it left', async () => {
  const cli = commandLine();
  // so that the control database is complete
  await cli.json('org', 'list');
  const before = await databases();
  const steps: string[] = [];
  for (let nth = 1; ; nth += 1) {
    const killed = await killedAt(cli, ['org', 'create', '--name', `Killed ${String(nth)}`], nth);
    if (!killed) break;
    steps.push(killed.at);
  }
  expect(steps[0]).toBe('insert organisations');
  expect(steps).toContain('createIndexes products');
  expect(steps.at(-1)).toMatch(/^commitTransaction/);
  // the last one was killed after its commit, and is complete
  const listed = await cli.json<{ name: string; state: string }[]>('org', 'list');
  const complete = steps.length;
  expect(listed.map(({ name }) => name)).toEqual([`Killed ${String(complete)}`, `Killed ${String(complete + 1)}`]);
  const left = await controlRows(cli).countDocuments({ state: 'creating' });
  expect(left).toBe(complete - 1);
  expect((await unlisted(before, cli)).length).toBeGreaterThan(0);

  // one that could still be running is left alone
  await makeOrganisation(cli, 'Next');
  expect(await controlRows(cli).countDocuments({ state: 'creating' })).toBe(left);
  await controlRows(cli).updateMany({ state: 'creating' }, { $set: { created_at: new Date(Date.now() - 130_000) } });
  // ten at a time
  for (let at = 0; at < left; at += 10) await makeOrganisation(cli, 'Next');
  expect(await controlRows(cli).countDocuments({ state: 'creating' })).toBe(0);
  expect(await unlisted(before, cli)).toEqual([]);
}, 300_000);

test('a creation that was slower than its removal fails, and leaves nothing', async () => {
  const cli = commandLine();
  await cli.json('org', 'list');
  const before = await databases();
  let isHeld = false;
  const proxy = await openDatabaseProxy(process.env.TEST_MONGODB_URI!, {
    onReply: async (reply, command) => {
      if (command?.createIndexes !== 'quotes' || isHeld) return reply;
      isHeld = true;
      await controlRows(cli).updateMany({ state: 'creating' }, { $set: { created_at: new Date(0) } });
      await makeOrganisation(cli, 'Overtakes');
      return reply;
    },
  });
  const slow = commandLine({ MONGODB_URI: proxy.uri, CONTROL_DATABASE: cli.controlDatabase });
  const { code, stderr } = await slow.spawned('org', 'create', '--name', 'Slow');
  await proxy.close();
  expect({ code, isHeld }).toEqual({ code: 1, isHeld: true });
  expect(stderr).not.toContain(' at ');
  expect((await cli.json<{ name: string }[]>('org', 'list')).map(({ name }) => name)).toEqual(['Overtakes']);
  expect(await unlisted(before, cli)).toEqual([]);
}, 120_000);

test('org erase, killed anywhere, is finished by running it again', async () => {
  const cli = commandLine();
  const steps: string[] = [];
  for (let nth = 1; ; nth += 1) {
    const name = `Erased ${randomBytes(4).toString('hex')}`;
    const { id } = await makeOrganisation(cli, name);
    await cli.json('import', '--org', id, join(NORTHWIND, 'products.ndjson'));
    const { id: key } = await cli.json<{ id: string }>(
      'key',
      'create',
      '--org',
      id,
      '--name',
      'one',
      '--scopes',
      'all',
    );
    const folder = await mkdtemp(join(tmpdir(), 'scopegate-erased-'));
    const args = ['org', 'erase', id, '--confirm', name, '--export', folder];
    const killed = await killedAt(cli, args, nth);
    if (killed) steps.push(killed.at);
    const again = await cli.run(...args);
    expect({ killed, code: again.code, stderr: again.stderr }).toMatchObject({ killed, code: 0 });
    expect(await databases()).not.toContain(databaseName(id));
    const left = await rowsThatMention(cli, [id, key, name]);
    expect({ killed, left }).toEqual({ killed, left: ['audit_events'] });
    const { length } = (await readdir(folder)).filter((file) => !file.startsWith('.'));
    expect({ killed, length }).toEqual({ killed, length: (await readdir(NORTHWIND)).length });
    if (!killed) break;
  }
  expect(steps).toEqual(
    expect.arrayContaining([
      ...['commitTransaction 1', 'delete open_writes', 'update organisations', 'dropDatabase 1', 'delete key_usage'],
      ...['delete api_keys', 'delete audit_events'],
    ]),
  );
}, 600_000);

/** The collections of the control database with rows that contain one of these texts; audit events must be of the erasure. */
async function rowsThatMention(cli: CommandLine, texts: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const collection of await server.useDb(cli.controlDatabase).db!.collections()) {
    const rows = (await collection.find().toArray()).map((row) => JSON.stringify(row));
    const mentions = rows.filter((row) => texts.some((text) => row.includes(text)));
    for (const row of mentions) {
      expect(row).toContain('organisation.erased');
      for (const text of texts.slice(1)) expect(row).not.toContain(text);
      found.push(collection.collectionName);
    }
  }
  return found;
}
