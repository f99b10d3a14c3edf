import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONTROL_SCHEMA } from '../../src/organisations/controlSchema';
import { type CommandLine, commandLine, NORTHWIND, northwindLines } from '../cli/commandLine';
import { client } from '../support/client';
import { driver, startGateway } from '../support/gateway';

/* Control data of the version before, which had organisations on several clusters. */

const bare = driver();
const FILES = ['customers.ndjson', 'orders.ndjson', 'quotes.ndjson', 'products.ndjson'];
const CONTROL = (): string => `scopegate_former_${randomBytes(6).toString('hex')}`;

/** A control database with an organisation, as the version before left it. */
async function former(row: object = {}) {
  const controlDatabase = CONTROL();
  const cli: CommandLine = commandLine({ CONTROL_DATABASE: controlDatabase });
  const { id } = await cli.json<{ id: string }>('org', 'create', '--name', 'Acme');
  const { id: key, key: secret } = await cli.json<{ id: string; key: string }>(
    'key',
    'create',
    '--org',
    id,
    '--name',
    'K',
    '--scopes',
    'products:read',
  );
  const db = bare.db(controlDatabase);
  const organisations = db.collection<{ readonly _id: string }>('organisations');
  await organisations.createIndexes([
    { key: { cluster: 1, created_at: 1, _id: 1 } },
    { key: { cluster: 1, files: 1 } },
    { key: { 'copies.cluster': 1 }, sparse: true },
  ]);
  await organisations.updateOne({ _id: id }, { $set: { cluster: 'default', files: 31, feed: { epoch: 2 }, ...row } });
  const ofKey = { 'organisation.cluster': 'default', ...('cluster' in row && { 'organisation.cluster': row.cluster }) };
  await db.collection('api_keys').updateOne({ _id: key as never }, { $set: ofKey });
  const schema = db.collection<{ readonly _id: string }>('deployment');
  const version = async () => ((await schema.findOne({ _id: 'schema' })) as unknown as { version: number }).version;
  await schema.updateOne({ _id: 'schema' }, { $set: { version: 10 } });
  return { controlDatabase, cli, id, secret, organisations, version };
}

test('data of one cluster is served as before, and doctor --fix drops what is gone', async () => {
  const { controlDatabase, cli, id, secret, organisations, version } = await former();
  await cli.json('import', '--org', id, join(NORTHWIND, 'products.ndjson'));
  await using gateway = await startGateway({ CONTROL_DATABASE: controlDatabase });
  const { status, body } = await client(gateway, secret).get('/products');
  expect([status, (body.data as unknown[]).length > 0]).toEqual([200, true]);
  const obsolete = async () => (await organisations.indexes()).filter(({ name }) => /cluster|files|copies/.test(name!));
  // so that the version before still starts
  expect(await obsolete()).toHaveLength(3);
  expect(await organisations.findOne({ _id: id })).toMatchObject({ files: 31 });
  expect(await version()).toBe(10);
  await cli.json('doctor', '--fix');
  expect(await obsolete()).toEqual([]);
  // gateways of the version before still need to know the cluster
  expect(await organisations.findOne({ _id: id })).toMatchObject({ cluster: 'default', feed: { epoch: 2 } });
  expect(await organisations.findOne({ _id: id })).not.toHaveProperty('files');
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
  const { cli, id, organisations, version } = await former(row);
  const before = await organisations.findOne({ _id: id });
  const stderr = await cli.failed(1, 'org', 'list');
  expect(stderr).toContain(said);
  expect(stderr).toContain('by export and import with their ids (docs/guides/sharding.md, From MONGODB_CLUSTERS)');
  expect(await organisations.findOne({ _id: id })).toEqual(before);
  expect(await version()).toBe(10);
});

test('an organisation of another cluster is brought over by export and import, with the ids of all records, and its key goes on', async () => {
  // its data as the version before exports it: of another installation
  const there = commandLine();
  const { id: source } = await there.json<{ id: string }>('org', 'create', '--name', 'Acme');
  const temporary = await mkdtemp(join(tmpdir(), 'scopegate-former-'));
  const [few, folder, again] = ['few', 'eu', 'here'].map((name) => join(temporary, name)) as [string, string, string];
  await mkdir(few);
  for (const file of FILES) await writeFile(join(few, file), (await northwindLines(file, 20)).join('\n'));
  await there.json('import', '--org', source, few);
  await there.json('export', folder, '--org', source);
  const { cli, id, secret, controlDatabase } = await former({ cluster: 'eu', state: 'suspended' });
  expect(await cli.failed(1, 'org', 'resume', id)).toContain('is not here until its export is imported');
  const { files } = await cli.json<{ files: Record<string, { failed: number }> }>('import', folder, '--org', id);
  expect(new Set(Object.values(files).map(({ failed }) => failed))).toEqual(new Set([0]));
  await cli.json('org', 'resume', id);
  await cli.json('export', again, '--org', id);
  for (const file of FILES) {
    const idsOf = async (of: string) =>
      (await readFile(join(of, file), 'utf8'))
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: string }).id)
        .sort();
    const ids = await idsOf(again);
    expect([ids.length, ids]).toEqual([20, await idsOf(folder)]);
  }
  await using gateway = await startGateway({ CONTROL_DATABASE: controlDatabase });
  expect((await client(gateway, secret).get('/products')).status).toBe(200);
  await rm(temporary, { recursive: true });
}, 120_000);
