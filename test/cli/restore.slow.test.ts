import { appendFile, cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startDatabase } from '../operations/database';
import { client } from '../support/client';
import { late, startGateway } from '../support/gateway';
import { type CommandLine, commandLine, makeKey, makeOrganisation, newFolder, NORTHWIND } from './commandLine';

/* An organisation is exported with its keys and restored: into an installation of its own, on another server. */

const KEY_PEPPER = 'a pepper for the tests of restoring';
const far = late(startDatabase);
const here = commandLine({ KEY_PEPPER });
const there = late(() => Promise.resolve(commandLine({ KEY_PEPPER, MONGODB_URI: far.uri })));
let folder: string;
let key: { id: string; key: string };
let organisation: { id: string };

beforeAll(async () => {
  organisation = await here.json('org', 'create', '--name', 'Äcme "Ltd"', '--plan', 'enterprise', '--currency', 'EUR');
  await here.json('import', '--org', organisation.id, await without(NORTHWIND, 'organisation.json'));
  key = await makeKey(here, organisation.id, '--scopes', 'products:read', '--allow', '127.0.0.0/8');
  const revoked = await makeKey(here, organisation.id, '--scopes', 'products:read', '--expires-in', '90d');
  await here.json('key', 'revoke', revoked.id);
  folder = join(await newFolder(), 'export');
  await here.json('export', '--org', organisation.id, folder, '--keys');
});
afterAll(() => far.stop());

async function copyOf(from: string): Promise<string> {
  const copy = await newFolder();
  await cp(from, copy, { recursive: true });
  return copy;
}

async function without(from: string, file: string): Promise<string> {
  const copy = await copyOf(from);
  await rm(join(copy, file));
  return copy;
}

async function filesOf(path: string): Promise<Record<string, string>> {
  const names = (await readdir(path)).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(path, name), 'utf8')])),
  );
}

async function exportOf(cli: CommandLine, org: string): Promise<Record<string, string>> {
  const path = join(await newFolder(), 'again');
  await cli.json('export', '--org', org, path, '--keys');
  return filesOf(path);
}

test('the export has keys without secrets', async () => {
  const text = await readFile(join(folder, 'keys.ndjson'), 'utf8');
  const secret = key.key.slice(key.key.lastIndexOf('_') + 1, -6);
  expect(text).not.toContain(secret);
  expect(text).not.toContain(KEY_PEPPER);
  expect(text.trimEnd().split('\n')).toHaveLength(3);
  expect(JSON.parse(text.split('\n')[0]!)).toEqual({ pepper: { salt: expect.any(String), hash: expect.any(String) } });
});

test('the import is identical byte for byte, and its keys work, except the revoked one', async () => {
  const { id } = organisation;
  await there.json('org', 'create', '--name', 'New', '--id', id);
  const args = ['import', '--org', id, folder, '--keys', '--organisation', '--stamp', 'file'];
  const { files } = await there.json<{ files: Record<string, object> }>(...args);
  expect(files.keys).toEqual({ read: 2, created: 2, updated: 0, unchanged: 0, failed: 0 });
  expect(await there.json('org', 'show', id)).toMatchObject({ name: 'Äcme "Ltd"', plan: 'enterprise' });
  expect(await exportOf(there, id)).toEqual(await filesOf(folder));
  await using gateway = await startGateway({ ...there.environment });
  const caller = client(gateway, key.key);
  expect((await caller.get('/me')).body).toMatchObject({
    organisation: { id, plan: 'enterprise' },
    key: { id: key.id },
  });
  expect((await caller.get('/products', { limit: 1 })).body.data).toHaveLength(1);
  expect((await caller.get('/quotes')).status).toBe(403);
  // restoring does not undo later revocations
  await there.json('key', 'revoke', key.id);
  const again = await there.json<{ files: Record<string, object> }>(...args);
  expect(again.files.keys).toMatchObject({ created: 0, unchanged: 2 });
  expect((await caller.get('/me')).status).toBe(401);
});

test('keys with another pepper or prefix, of another organisation, or without a file are rejected', async () => {
  const other = commandLine({ KEY_PEPPER: 'another', MONGODB_URI: far.uri });
  const { id } = await makeOrganisation(other, 'Empty');
  expect(await other.failed(1, 'import', '--org', id, folder, '--keys')).toContain(
    'the keys are hashed with another KEY_PEPPER, so none of them would work: nothing was stored',
  );
  expect(await other.json('org', 'show', id)).toMatchObject({ name: 'Empty' });
  expect(await other.json('key', 'list', '--org', id)).toEqual([]);

  const { id: second } = await here.json<{ id: string }>('org', 'create', '--name', 'Second', '--currency', 'EUR');
  const foreign = await here.run('import', '--org', second, folder, '--keys', '--json');
  expect(foreign.code).toBe(1);
  expect(JSON.parse(foreign.stdout)).toMatchObject({
    files: { keys: { read: 2, created: 0, updated: 0, unchanged: 0, failed: 2 } },
    errors: [{ code: 'conflict' }, { code: 'conflict' }],
  });
  expect(await here.json('key', 'show', key.id)).toMatchObject({ organisation: { id: organisation.id } });

  const renamed = commandLine({ ...there.environment, KEY_PREFIX: 'acme_live_' });
  const { id: third } = await makeOrganisation(renamed);
  const prefixed = await renamed.run('import', '--org', third, folder, '--keys', '--organisation');
  expect(prefixed.stderr).toContain('/prefix: must start with acme_live_; set KEY_PREFIX as it was');
  const { id: sandbox } = await here.json<{ id: string }>('org', 'create', '--sandbox-of', second);
  const { stderr } = await here.run('import', '--org', sandbox, folder, '--keys');
  expect(stderr).toContain('/prefix: must start with svc_test_; set KEY_PREFIX_TEST as it was');
  const bare = await here.failed(1, 'import', '--org', second, await without(folder, 'keys.ndjson'), '--keys');
  expect(bare).toContain('keys.ndjson; export with --keys, or import without it');
  await here.failed(2, 'import', '--org', second, join(folder, 'products.ndjson'), '--keys');
});

test('lines of keys.ndjson are validated, and valid ones are stored', async () => {
  const own = commandLine({ KEY_PEPPER });
  const { id } = await makeOrganisation(own);
  const copy = await copyOf(folder);
  const [head, first, second] = (await readFile(join(copy, 'keys.ndjson'), 'utf8')).trimEnd().split('\n');
  const bad = second!.replace('products:read', 'everything:write');
  // older exports may have host bits set
  const [old, nowhere] = ['10.0.0.1/8', '10.0.0.0/80'].map((range) =>
    JSON.stringify({ ...JSON.parse(first!), allowed_ranges: [range] }),
  );
  await writeFile(join(copy, 'keys.ndjson'), [head, old, first, bad, nowhere, 'no json', ''].join('\n'));
  await appendFile(join(copy, 'keys.ndjson'), Buffer.from([0xff]));
  const { code, stderr } = await own.run('import', '--org', id, copy, '--keys', '--organisation');
  expect(code).toBe(1);
  for (const place of [
    '3: /id:',
    '4: /scopes/0:',
    '5: /allowed_ranges/0: must be a CIDR range',
    '6: ',
    '7: is not valid UTF-8',
  ])
    expect(stderr).toContain(`keys.ndjson:${place}`);
  expect(await own.json('key', 'list', '--org', id)).toHaveLength(1);
  await writeFile(join(copy, 'keys.ndjson'), `${first!}\n`);
  const headless = await own.failed(1, 'import', '--org', id, copy, '--keys');
  expect(headless).toContain(':1: is not the fingerprint of a pepper');
});

describe('organisation.json', () => {
  test('is applied only with --organisation, and to an organisation without data; another currency is rejected before anything is stored', async () => {
    const { id } = await makeOrganisation(here, 'Dollars');
    await here.json('import', '--org', id, await without(NORTHWIND, 'organisation.json'));
    const rejected = await here.failed(1, 'import', '--org', id, await without(folder, 'keys.ndjson'));
    expect(rejected).toContain(`organisation.json has the currency EUR, but organisation ${id} has data in USD`);
    expect(await here.json('import', '--org', id, NORTHWIND)).toMatchObject({ errors: [] });
    expect(await here.json('org', 'show', id)).toMatchObject({ name: 'Dollars', plan: 'integrations' });
    const { id: empty } = await makeOrganisation(here, 'Empty');
    const other = await here.failed(1, 'import', '--org', empty, await without(folder, 'keys.ndjson'));
    expect(other).toContain('is in USD: nothing was stored; add --organisation to take over what it says');
    expect(await here.json('import', '--org', empty, NORTHWIND)).toMatchObject({ errors: [] });
    expect(await here.json('org', 'show', empty)).toMatchObject({ name: 'Empty', plan: 'integrations' });
  });

  test.each([
    ['{"name": "A", "plan": "Gold!", "currency": "EUR"}', 'plan: must be the name of a plan'],
    ['{"name": "A", "plan": "starter", "currency": "XYZ"}', 'currency: must be an ISO 4217 currency code'],
    ['{"name": " ", "plan": "starter", "currency": "EUR"}', 'name: must be one line'],
    ['{"name": "A"', 'nothing was stored'],
  ])('%s is rejected', async (text, reason) => {
    const { id } = await makeOrganisation(here, 'Malformed');
    const copy = await copyOf(folder);
    await writeFile(join(copy, 'organisation.json'), text);
    expect(await here.failed(1, 'import', '--org', id, copy)).toContain(reason);
    expect(await here.json('org', 'show', id)).toMatchObject({ name: 'Malformed', plan: 'integrations' });
  });
});
