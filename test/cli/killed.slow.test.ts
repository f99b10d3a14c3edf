import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import mongoose from 'mongoose';
import { databaseName } from '../../src/mongo/databaseNames';
import { startDatabase } from '../operations/database';
import { driver } from '../support/gateway';
import { killedAt } from '../support/kills';
import { type CommandLine, commandLine, makeKey, makeOrganisation, NORTHWIND, newFolder } from './commandLine';

/* `org create` and `org erase`, killed after each change that they make to the database. */

const bare = driver();

async function databases(of = bare): Promise<string[]> {
  const { databases: found } = await of.db('admin').admin().listDatabases({ nameOnly: true });
  return found.map(({ name }) => name);
}

test('org create, killed at any step, leaves nothing or a complete organisation', async () => {
  // a separate server, so that all its databases are from here
  const own = await startDatabase();
  const connection = await mongoose.mongo.MongoClient.connect(own.uri);
  const cli = commandLine({ MONGODB_URI: own.uri });
  const killing = { isInside: true, server: { uri: own.uri, through: (uri: string) => ({ MONGODB_URI: uri }) } };
  // so that the control database is complete
  await cli.json('org', 'list');
  const before = await databases(connection);
  const steps: string[] = [];
  for (let nth = 1; ; nth += 1) {
    const killed = await killedAt(cli, ['org', 'create', '--name', `Killed ${String(nth)}`], nth, killing);
    if (!killed) break;
    steps.push(killed.at);
  }
  expect(steps).toEqual(['insert organisations', 'insert audit_events', 'commitTransaction 1']);
  const listed = await cli.json<{ id: string; name: string; state: string }[]>('org', 'list');
  expect(listed).toEqual([
    // killed after its commit
    expect.objectContaining({ name: 'Killed 3', state: 'active' }),
    expect.objectContaining({ name: 'Killed 4', state: 'active' }),
  ]);
  for (const { id } of listed) await cli.json('import', '--org', id, join(NORTHWIND, 'products.ndjson'));
  const made = (await databases(connection)).filter((name) => name.startsWith('org_') && !before.includes(name));
  expect(made.sort()).toEqual(listed.map(({ id }) => databaseName(id)).sort());
  await connection.close();
  await own.stop();
});

test('org erase, killed at any step, is completed by running it again', async () => {
  const cli = commandLine();
  const steps: string[] = [];
  for (let nth = 1; ; nth += 1) {
    const name = `Erased ${randomBytes(4).toString('hex')}`;
    const { id } = await makeOrganisation(cli, name);
    await cli.json('import', '--org', id, join(NORTHWIND, 'products.ndjson'));
    const { id: key } = await makeKey(cli, id);
    await recordUse(cli, id, key);
    const folder = await newFolder();
    const args = ['org', 'erase', id, '--confirm', name, '--export', folder];
    const killed = await killedAt(cli, args, nth);
    if (killed) steps.push(killed.at);
    const again = await cli.run(...args);
    expect({ killed, code: again.code, stderr: again.stderr }).toMatchObject({ killed, code: 0 });
    expect(await databases()).not.toContain(databaseName(id));
    const left = await rowsThatMention(cli, [id, key, name]);
    expect({ killed, left }).toEqual({ killed, left: ['audit_events'] });
    // nothing of the export that was killed is left
    const { length } = await readdir(folder);
    expect({ killed, length }).toEqual({ killed, length: (await readdir(NORTHWIND)).length });
    if (!killed) break;
  }
  expect(steps).toEqual(
    expect.arrayContaining([
      ...['commitTransaction 1', 'update organisations', 'dropDatabase 1', 'delete key_usage'],
      ...['delete api_keys', 'delete request_log', 'delete audit_events'],
    ]),
  );
}, 600_000);

/** What a gateway stores about a key's requests. */
async function recordUse({ controlDatabase }: CommandLine, organisation: string, key: string): Promise<void> {
  const rows = (name: string) =>
    bare.db(controlDatabase).collection<{ _id: string; organisation_id?: string; key_id: string }>(name);
  const counted = [key, `org:${organisation}`].map((of) => ({ _id: `${of}:day:2026-11-23`, key_id: of }));
  await rows('key_usage').insertMany(counted);
  await rows('request_log').insertOne({ _id: key, organisation_id: organisation, key_id: key });
}

/** The collections of the control database that mention one of these texts; audit events must be of the erasure. */
async function rowsThatMention(cli: CommandLine, texts: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const collection of await bare.db(cli.controlDatabase).collections()) {
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
