import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Organisation } from '../../src/auth/principal';
import { databaseName } from '../../src/database/organisationData';
import { type CommandLine, commandLine, finished, NORTHWIND } from '../cli/commandLine';
import { eventually } from '../http/eventually';
import { client } from '../support/client';
import { makeKey, makeNorthwind, makeOrganisation } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';

/* Erases organisations by the command line, one while two gateways that know it and a large import write to it; erasing.test.ts has the rest. */

const CONTROL_DATABASE = 'scopegate_erasing';
let gateways: readonly [TestGateway, TestGateway];
let cli: CommandLine;

beforeAll(async () => {
  gateways = [await startGateway({ CONTROL_DATABASE }), await startGateway({ CONTROL_DATABASE })];
  cli = commandLine({ CONTROL_DATABASE });
});
afterAll(() => Promise.all(gateways.map((gateway) => gateway.stop())));

async function isListed({ id }: Organisation): Promise<boolean> {
  const admin = gateways[0].databases.control.getClient().db('admin').admin();
  const { databases } = await admin.listDatabases({ nameOnly: true });
  return databases.some(({ name }) => name === databaseName(id));
}

const erase = ({ id, name }: Organisation, ...more: string[]) =>
  cli.spawned('org', 'erase', id, '--confirm', name, '--json', ...more);

/** Products for an import that takes many transactions. */
async function manyProducts(count: number): Promise<string> {
  const [line = ''] = (await readFile(join(NORTHWIND, 'products.ndjson'), 'utf8')).split('\n');
  const lines = Array.from({ length: count }, (_none, at) =>
    line.replace(/"id": "[^"]*"/, `"id": "${randomUUID()}"`).replace('NW-001', `MANY-${String(at)}`),
  );
  const path = join(await mkdtemp(join(tmpdir(), 'scopegate-erasing-')), 'products.ndjson');
  await writeFile(path, lines.join('\n'));
  return path;
}

test('neither requests nor an import recreate the database of an erased organisation, and its keys get 401', async () => {
  const organisation = await makeNorthwind(gateways[0], 20);
  const { key } = await makeKey(gateways[0], organisation);
  const path = await manyProducts(40_000);
  let isOver = false;
  const statuses = new Map<number, number>();
  const writers = gateways.flatMap((gateway) =>
    Array.from({ length: 4 }, async (_none, at) => {
      for (let turn = 0; !isOver; turn += 1) {
        const sku = `${String(at)}-${String(turn)}`;
        const headers = at === 0 ? { 'idempotency-key': randomUUID() } : {};
        const { status } =
          at === 1
            ? await client(gateway, key).get('/products', { updated_since: '1970-01-01T00:00:00Z' })
            : at === 2
              ? await client(gateway, key).post('/requests', { text: sku }, headers)
              : await client(gateway, key).post('/products/bulk', { products: [{ sku, name: sku }] }, headers);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    }),
  );
  const importing = finished(cli.start(['import', '--org', organisation.id, path]));
  await eventually(() => (statuses.get(200) ?? 0) > 20 && (statuses.get(201) ?? 0) > 20, 60_000);
  const folder = await mkdtemp(join(tmpdir(), 'scopegate-erasing-'));
  const erased = await erase(organisation, '--export', folder);
  expect(erased).toMatchObject({ code: 0 });
  expect(JSON.parse(erased.stdout)).toEqual({ id: organisation.id, erased: true, export: folder });
  for (const gateway of gateways) expect((await client(gateway, key).get('/me')).status).toBe(401);
  expect(await isListed(organisation)).toBe(false);
  // callers that keep writing for a while
  const before = statuses.get(401) ?? 0;
  await eventually(() => (statuses.get(401) ?? 0) > before + 200, 60_000);
  isOver = true;
  await Promise.all(writers);
  expect((await importing).code).toBe(1);
  expect(await isListed(organisation)).toBe(false);
  // a write in progress may fail because the organisation is closed, or because it took too long
  expect([...statuses.keys()].filter((status) => ![200, 201, 401, 403, 503].includes(status))).toEqual([]);
  // the export has everything that was acknowledged
  const requests = (await readFile(join(folder, 'requests.ndjson'), 'utf8')).trimEnd().split('\n');
  expect(requests.length).toBe(20 + (statuses.get(201) ?? 0));
}, 120_000);

test('an organisation that is being erased is shown as such, cannot be resumed, and is erased by the same command again', async () => {
  const organisation = await makeOrganisation(gateways[0]);
  const { id } = organisation;
  await gateways[0].control.erasing.begin(id);
  expect(await cli.run('org', 'resume', id)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is being erased; to finish that, run scopegate org erase again') as unknown,
  });
  expect(await cli.json('org', 'show', id)).toMatchObject({ state: 'erasing' });
  for (let time = 1; time <= 2; time += 1) {
    const { code, stdout } = await erase(organisation, '--no-export');
    expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({ code: 0, erased: true });
  }
});

test('a wrong name changes nothing, and the export goes to DATA_DIR by default', async () => {
  const organisation = await makeNorthwind(gateways[0], 3);
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'scopegate-erasing-'));
  const own = commandLine({ CONTROL_DATABASE, DATA_DIR });
  const wrong = await own.run('org', 'erase', organisation.id, '--confirm', 'Northwind');
  expect(wrong).toMatchObject({ code: 2, stdout: '' });
  expect(wrong.stderr).toContain('--confirm must be the name of the organisation, which is "Northwind Traders"');
  expect(await own.run('org', 'erase', organisation.id)).toMatchObject({ code: 2 });
  expect(await own.json('org', 'show', organisation.id)).toMatchObject({ state: 'active' });
  const folder = join(DATA_DIR, 'erased', organisation.id);
  expect(await own.json('org', 'erase', organisation.id, '--confirm', organisation.name)).toEqual({
    ...{ id: organisation.id, erased: true, export: folder },
  });
  expect((await readdir(folder)).sort()).toEqual((await readdir(NORTHWIND)).sort());
});
