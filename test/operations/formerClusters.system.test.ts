import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mongo } from 'mongoose';
import { CONTROL_SCHEMA } from '../../src/organisations/controlSchema';
import { databaseName } from '../../src/mongo/databaseNames';
import { type CommandLine, commandLine, newFolder } from '../cli/commandLine';
import { client, type Json } from '../support/client';
import { driver, startGateway } from '../support/gateway';

/*
 * Data of a deployment of the last version that had clusters (74b0433c), with two of them: Acme on `default`, and Mill on `eu`, which was
 * suspended and exported as the guide says. `default.ndjson` has all collections of the first cluster, without rows that expire, leases and the
 * place in that server's log; `eu` is the export; `answers.ndjson` is what that version answered. Each organisation has products, customers,
 * quotes, orders and requests, written by an import and then by its key, a revoked key and a webhook.
 */

const FIXTURES = join(__dirname, '../support/fixtures/formerClusters');
const SECRETS = {
  KEY_PEPPER: 'the pepper of the former deployment',
  WEBHOOK_SECRET: 'the master secret of webhooks of the former deployment',
};

interface FormerCollection {
  readonly database: string;
  readonly collection: string;
  readonly indexes: mongo.IndexDescription[];
  readonly rows: mongo.OptionalUnlessRequiredId<mongo.Document>[];
}

interface Answered {
  readonly name: string;
  readonly id: string;
  readonly secret: string;
  /** By path. */
  readonly answers: Record<string, Json>;
  /** What commands printed with --json, by name: `audit`, `key list` (only active keys) and `webhook list`. */
  readonly commands: Record<string, Json[]>;
}

const linesOf = <T>(file: string): T[] =>
  readFileSync(join(FIXTURES, file), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => mongo.BSON.EJSON.parse(line) as T);

const [acme, mill] = linesOf<Answered>('answers.ndjson') as [Answered, Answered];
const bare = driver();

/** A control database as the former version left it, with members of Acme's row that differ, and Acme's own database. */
async function former(row: object = {}) {
  const controlDatabase = `scopegate_former_${randomBytes(6).toString('hex')}`;
  const cli: CommandLine = commandLine({ ...SECRETS, CONTROL_DATABASE: controlDatabase });
  await bare.db(databaseName(acme.id)).dropDatabase();
  for (const { database, collection, indexes, rows } of linesOf<FormerCollection>('default.ndjson')) {
    const there = bare.db(database === 'former' ? controlDatabase : database).collection(collection);
    if (indexes.length > 0) await there.createIndexes(indexes);
    if (rows.length > 0) await there.insertMany(rows);
  }
  const db = bare.db(controlDatabase);
  const organisations = db.collection<{ readonly _id: string }>('organisations');
  await organisations.updateOne({ _id: acme.id }, { $set: { ...row } });
  const schema = db.collection<{ readonly _id: string }>('deployment');
  const version = async () => ((await schema.findOne({ _id: 'schema' })) as unknown as { version: number }).version;
  return { controlDatabase, cli, organisations, version };
}

/** Requires that all is read as the former version answered; members that it did not have may be there too. */
async function expectSame(
  cli: CommandLine,
  controlDatabase: string,
  { id, secret, answers, commands }: Answered,
): Promise<void> {
  await using gateway = await startGateway({ ...SECRETS, CONTROL_DATABASE: controlDatabase });
  for (const [path, answer] of Object.entries(answers)) {
    const { status, body } = await client(gateway, secret).get(path);
    expect({ path, status, body }).toMatchObject({ path, status: 200, body: answer });
  }
  for (const [command, printed] of Object.entries(commands)) {
    const now = await cli.json<Json[]>(...command.split(' '), '--org', id);
    for (const one of printed)
      expect(now.find((row) => row.id === one.id)).toMatchObject(one as Record<string, unknown>);
  }
}

test('data of one cluster is served as before, and doctor --fix drops what is gone', async () => {
  const { controlDatabase, cli, organisations, version } = await former();
  await expectSame(cli, controlDatabase, acme);
  const obsolete = async () => (await organisations.indexes()).filter(({ name }) => /cluster|files|copies/.test(name!));
  // so that the version before still starts
  expect(await obsolete()).toHaveLength(3);
  expect(await organisations.findOne({ _id: acme.id })).toMatchObject({ files: 22 });
  expect(await version()).toBe(10);
  await cli.json('doctor', '--fix');
  expect(await obsolete()).toEqual([]);
  // gateways of the version before still need to know the cluster
  expect(await organisations.findOne({ _id: acme.id })).toMatchObject({ cluster: 'default' });
  expect(await organisations.findOne({ _id: acme.id })).not.toHaveProperty('files');
  expect(await version()).toBe(CONTROL_SCHEMA);
});

test.each([
  ['served organisations of other clusters', { cluster: 'eu' }, 'is on the cluster eu'],
  [
    'moves that have not ended',
    { move: { to: 'eu', mover: 'm', seen_at: new Date(), begun_at: new Date() } },
    'being moved to the cluster eu',
  ],
  ['copies that moves left', { copies: [{ cluster: 'eu', left_at: new Date(), complete: true }] }, 'left a copy'],
])('a start with %s ends with one sentence that names the guide, and changes nothing', async (_what, row, said) => {
  const { cli, organisations, version } = await former(row);
  const before = await organisations.findOne({ _id: acme.id });
  const stderr = await cli.failed(1, 'org', 'list');
  expect(stderr).toContain(said);
  expect(stderr).toContain('by export and import with their ids (docs/guides/sharding.md, From MONGODB_CLUSTERS)');
  expect(await organisations.findOne({ _id: acme.id })).toEqual(before);
  expect(await version()).toBe(10);
});

test('a move to a shard stops no start of a database whose schema row is lost', async () => {
  const { cli, controlDatabase } = await former({ move: { to: 'shard02', mover: 'm', seen_at: new Date() } });
  await bare.db(controlDatabase).collection<{ _id: string }>('deployment').deleteOne({ _id: 'schema' });
  await cli.json('org', 'list');
});

test('an organisation of another cluster is brought over by export and import, and is read as before', async () => {
  const { cli, controlDatabase } = await former();
  await bare.db(databaseName(mill.id)).dropDatabase();
  const notHere = 'is not here until its export is imported';
  expect(await cli.failed(1, 'org', 'resume', mill.id)).toContain(notHere);
  // neither a part of an export nor one that is not stored as a whole
  const part = await newFolder();
  await cp(join(FIXTURES, 'eu', 'products.ndjson'), join(part, 'products.ndjson'));
  await cli.json('import', part, '--org', mill.id);
  expect(await cli.failed(1, 'org', 'resume', mill.id)).toContain(notHere);
  await cp(join(FIXTURES, 'eu', 'organisation.json'), join(part, 'organisation.json'));
  await writeFile(join(part, 'webhooks.ndjson'), '{}\n');
  expect((await cli.run('import', part, '--org', mill.id, '--webhooks')).code).toBe(1);
  expect(await cli.failed(1, 'org', 'resume', mill.id)).toContain(notHere);
  const { files } = await cli.json<{ files: Record<string, { failed: number }> }>(
    'import',
    join(FIXTURES, 'eu'),
    '--org',
    mill.id,
  );
  expect(Object.keys(files)).toHaveLength(5);
  for (const { failed } of Object.values(files)) expect(failed).toBe(0);
  await cli.json('org', 'resume', mill.id);
  await expectSame(cli, controlDatabase, mill);
});
