import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { client } from '../support/client';
import { startGateway } from '../support/gateway';
import { checkOf, commandLine, makeKey, makeOrganisation, newFolder } from './commandLine';

/* Keys are exported while their pepper is being replaced, and restored where peppers have other numbers. */

const BOTH = { KEY_PEPPER: 'second', KEY_PEPPER_PREVIOUS: 'first' };
let folder: string;
let [older, newer]: { readonly id: string; readonly key: string }[] = [];

beforeAll(async () => {
  const before = commandLine({ KEY_PEPPER: 'first' });
  const { id: org } = await makeOrganisation(before);
  older = await makeKey(before, org);
  const after = commandLine({ ...before.environment, ...BOTH });
  newer = await makeKey(after, org);
  folder = join(await newFolder(), 'export');
  await after.json('export', '--org', org, folder, '--keys');
});

test("the export has the number of each key's pepper", async () => {
  const lines = (await readFile(join(folder, 'keys.ndjson'), 'utf8')).trimEnd().split('\n');
  const [header, first, second] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(header).toMatchObject({ pepper: { number: 1 } });
  expect(first).not.toHaveProperty('pepper');
  expect(second).toMatchObject({ pepper: 1 });
});

test('with no keys yet, pepper numbers are taken from the export, and both keys work and are rehashed', async () => {
  const cli = commandLine(BOTH);
  await cli.json('import', '--org', (await makeOrganisation(cli)).id, folder, '--keys');
  const one = { detail: expect.stringContaining('1 active key is hashed with KEY_PEPPER_PREVIOUS') as unknown };
  expect(await checkOf(cli, 'pepper')).toMatchObject(one);
  await using gateway = await startGateway({ CONTROL_DATABASE: cli.controlDatabase, ...BOTH });
  await gateway.control.pepper.adopt();
  for (const { key } of [older!, newer!]) expect((await client(gateway, key).get('/me')).status).toBe(200);
  await gateway.control.apiKeys.settle();
  expect(await gateway.control.apiKeys.find(older!.id)).toMatchObject({ pepper: 1 });
});

test('if the same pepper has another number, keys are renumbered, and keys with an unknown pepper are rejected', async () => {
  const cli = commandLine({ KEY_PEPPER: 'second' });
  const { id: org } = await makeOrganisation(cli);
  await makeKey(cli, org);
  const { code, stdout, stderr } = await cli.run('import', '--org', org, folder, '--keys', '--json');
  expect(code).toBe(1);
  expect(stderr).toContain('1 line was not stored');
  expect(JSON.parse(stdout)).toMatchObject({
    files: { keys: { read: 2, created: 1, failed: 1 } },
    errors: [{ line: 2, pointer: '/pepper', code: 'not_allowed' }],
  });
  await using gateway = await startGateway({ CONTROL_DATABASE: cli.controlDatabase, KEY_PEPPER: 'second' });
  expect((await client(gateway, newer!.key).get('/me')).status).toBe(200);
  expect(await gateway.control.apiKeys.find(newer!.id)).not.toHaveProperty('pepper');
});

test('keys hashed with the previous pepper are accepted, and doctor counts those with an older one', async () => {
  const cli = commandLine({ KEY_PEPPER: 'third', KEY_PEPPER_PREVIOUS: 'second' });
  await cli.json('import', '--org', (await makeOrganisation(cli)).id, folder, '--keys');
  const lost = expect.stringContaining('1 active key is hashed with a pepper before KEY_PEPPER_PREVIOUS') as unknown;
  expect(await checkOf(cli, 'pepper')).toMatchObject({ ok: false, detail: lost });
});
