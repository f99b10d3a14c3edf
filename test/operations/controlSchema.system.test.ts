import { randomBytes } from 'node:crypto';
import type { Command } from '../../faults/databaseProxy';
import { openStore } from '../../src/cli/store';
import { readConfig } from '../../src/config';
import { indexesOf } from '../../src/mongo/indexes';
import { CONTROL_INDEXES, CONTROL_SCHEMA } from '../../src/organisations/controlSchema';
import { controlCollections } from '../../src/organisations/models';
import { checkOf, commandLine, type Diagnosis, makeOrganisation } from '../cli/commandLine';
import { driver, startGateway } from '../support/gateway';
import { oldServers } from '../support/oldServers';
import { recordCommands } from '../support/recordedCommands';

/* The control database stores which indexes it has, so that no command creates them again, and which versions may start on it. */

const bare = driver();

const CONTROL = (): string => `scopegate_schema_${randomBytes(6).toString('hex')}`;
interface SchemaRow {
  readonly _id: string;
  readonly version: number;
  readonly indexes?: number;
}

const nameOf = (command: Command): string => Object.keys(command)[0] ?? '';

test('commands create no index if the database is already at this version', async () => {
  const { proxy, sent } = await recordCommands();
  try {
    const cli = commandLine({ MONGODB_URI: proxy.uri });
    await cli.json('org', 'list');
    expect(sent.filter((one) => nameOf(one) === 'createIndexes')).toHaveLength(controlCollections.length);
    sent.length = 0;
    await cli.json('org', 'list');
    expect(sent.filter((one) => /index/i.test(nameOf(one)))).toEqual([]);
    expect(sent.filter((one) => one.find === 'deployment')).toHaveLength(1);
  } finally {
    await proxy.close();
  }
});

test('stores that are opened together on a new database all open, and each index is created once', async () => {
  const name = CONTROL();
  const config = readConfig({ MONGODB_URI: process.env.TEST_MONGODB_URI, CONTROL_DATABASE: name, ...oldServers() });
  // only their databases, since eight whole gateways in one process keep each other waiting
  const stores = await Promise.all(Array.from({ length: 8 }, () => openStore(config, () => undefined)));
  const db = bare.db(name);
  expect(await db.collection('deployment').findOne({ _id: 'schema' as never })).toEqual({
    _id: 'schema',
    version: CONTROL_SCHEMA,
    indexes: CONTROL_INDEXES,
  });
  const indexes = await db.collection('organisations').listIndexes().toArray();
  const declared = controlCollections.find(({ name: one }) => one === 'organisations')!;
  const names = ['_id_', ...indexesOf(declared).map((index) => index.name)];
  expect(indexes.map((index) => index.name as string).sort()).toEqual(names.sort());
  await Promise.all(stores.map((store) => store.close()));
});

test.each([
  [
    'a later version',
    CONTROL_SCHEMA + 1,
    `, but this version of scopegate knows only ${String(CONTROL_SCHEMA)}: run the version that made it, or a later one`,
  ],
  [
    'a version that is too old',
    9,
    `, but this version of scopegate serves 10 to ${String(CONTROL_SCHEMA)}: upgrade to a version in between first, and run its doctor --fix`,
  ],
])('a database of %s is rejected in one sentence, and keeps its version', async (_what, version, said) => {
  const name = CONTROL();
  await using gateway = await startGateway({ CONTROL_DATABASE: name });
  const rows = gateway.databases.control.collection<SchemaRow>('deployment');
  await rows.updateOne({ _id: 'schema' }, { $set: { version } });
  const cli = commandLine({ CONTROL_DATABASE: name });
  for (const args of [
    ['org', 'list', '--json'],
    ['doctor', '--rows', '--fix'],
  ]) {
    const stderr = await cli.failed(1, ...args);
    expect(stderr).toContain(`error: the control database ${name} has schema version ${String(version)}${said}`);
    expect(stderr.match(/error:/g)).toHaveLength(1);
  }
  expect((await cli.run('doctor', '--fix')).code).toBe(1);
  expect((await rows.findOne({ _id: 'schema' }))!.version).toBe(version);
});

/** Commands that change something. */
const WRITES = /^(insert|update|delete|findAndModify|create|createIndexes|drop\w*|collMod|bulkWrite)$/;

test('on a database of the version before, a start adds indexes once; doctor changes nothing; doctor --fix alone drops, and raises the number, unless the name seems to be mistyped', async () => {
  const { proxy, sent } = await recordCommands();
  const cli = commandLine({ MONGODB_URI: proxy.uri });
  const control = bare.db(cli.controlDatabase);
  const rows = control.collection<SchemaRow>('deployment');
  const schema = () => rows.findOne({ _id: 'schema' });
  const added = 'organisation_id_1_actor.who_1_at_-1__id_-1';
  const retired = 'cluster_1_files_1';
  const isThere = async (): Promise<boolean[]> => [
    await control.collection('audit_events').indexExists(added),
    await control.collection('organisations').indexExists(retired),
  ];
  async function changesNothing(...args: string[]): Promise<void> {
    sent.length = 0;
    expect((await cli.run('doctor', ...args)).code).toBe(0);
    // its probe is rolled back
    expect(sent.filter((one) => WRITES.test(nameOf(one)) && one.insert !== 'doctor')).toEqual([]);
  }
  try {
    await changesNothing();
    expect(await checkOf(cli, 'control database')).toMatchObject({
      ok: true,
      // other tests' control databases may be on the same server
      detail: expect.stringMatching(
        / is new: the first gateway or command creates its collections| has no organisation, and /,
      ),
    });
    expect(await schema()).toBeNull();

    // as the version before leaves it: without the other number, which it does not know
    await cli.json('org', 'list');
    const former = CONTROL_SCHEMA - 1;
    await rows.updateOne({ _id: 'schema' }, { $set: { version: former }, $unset: { indexes: 1 } });
    await control.collection('audit_events').dropIndex(added);
    await control.collection('organisations').createIndexes([{ key: { cluster: 1, files: 1 } }]);

    await changesNothing();
    await changesNothing('--rows');
    expect(await checkOf(cli, 'control database')).toMatchObject({
      ok: true,
      // after what it says if other tests' control databases are on the same server
      detail: expect.stringContaining(
        ` lacks audit_events: ${added}, which the first gateway or command of this version creates`,
      ) as unknown,
    });
    expect(await checkOf(cli, 'control schema')).toMatchObject({
      ok: true,
      detail: expect.stringMatching(/^11, so versions whose own is 11 can still start/) as unknown,
      fix: expect.stringMatching(/^once all gateways have this version and you will not go back/) as unknown,
    });
    expect(await isThere()).toEqual([false, true]);

    for (const created of [controlCollections.length, 0]) {
      sent.length = 0;
      await cli.json('org', 'list');
      expect(sent.filter((one) => /index/i.test(nameOf(one)))).toHaveLength(created);
      expect(await schema()).toEqual({ _id: 'schema', version: former, indexes: CONTROL_INDEXES });
      expect(await isThere()).toEqual([true, true]);
    }

    // without an organisation beside one that has some it may be a mistyped one
    await makeOrganisation(commandLine());
    await changesNothing('--fix');
    expect(await schema()).toEqual({ _id: 'schema', version: former, indexes: CONTROL_INDEXES });

    await makeOrganisation(cli);
    const { checks } = await cli.json<Diagnosis>('doctor', '--fix');
    expect(checks).toContainEqual({
      name: 'control schema',
      ok: true,
      detail: 'raised from 11 to 12: versions whose own is lower no longer start',
    });
    expect(await schema()).toEqual({ _id: 'schema', version: CONTROL_SCHEMA, indexes: CONTROL_INDEXES });
    expect(await isThere()).toEqual([true, false]);
    await changesNothing('--fix');
  } finally {
    await proxy.close();
  }
});
