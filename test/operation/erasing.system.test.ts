import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Organisation } from '../../src/access/principal';
import { databaseName } from '../../src/database/organisationData';
import { customers } from '../../src/resources/customers/customers';
import { products } from '../../src/resources/products/products';
import { type CommandLine, commandLine, finished, NORTHWIND } from '../cli/commandLine';
import { eventually } from '../http/eventually';
import { makeLink, sendLink, signIn } from '../settings/people';
import { client } from '../support/client';
import { updatesCreate } from '../support/differences';
import { makeKey, makeNorthwind, makeOrganisation } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';

/* Erases an organisation while two gateways that know it and an import write to it. */

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

test('a write that began before the erasure and resumes afterwards stores nothing, and creates no database', async () => {
  const organisation = await makeOrganisation(gateways[0]);
  const { key } = await makeKey(gateways[0], organisation);
  const data = gateways[0].databases.organisationData(organisation);
  const caller = client(gateways[0], key);
  expect((await caller.post('/requests', { text: 'first' })).status).toBe(201);
  // one waits with its row taken, the other found no free one and is about to create one
  const [begun, made] = [await data.slots.take(), data.creating.bind(data)];
  const transaction = data.transaction.bind(data);
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  data.transaction = async (work, writes) => {
    await held;
    return transaction(work, writes);
  };
  let waiting = 0;
  data.creating = async (work) =>
    made(async () => {
      waiting += 1;
      await held;
      return work();
    });
  const writes = ['one', 'two', 'three'].map((text) => caller.post('/requests', { text }));
  await eventually(() => waiting === writes.length);
  expect(await erase(organisation, '--no-export')).toMatchObject({ code: 0 });
  expect(await isListed(organisation)).toBe(false);
  letGo();
  for (const { status } of await Promise.all(writes)) expect([401, 403, 503]).toContain(status);
  expect(await isListed(organisation)).toBe(false);
  const client0 = gateways[0].databases.control.getClient();
  expect(await client0.withSession((session) => data.slots.pass(begun, session))).toBe(false);
  expect(await isListed(organisation)).toBe(await updatesCreate(client0));
});

test('no collection is created while an organisation is being erased', async () => {
  const organisation = await makeOrganisation(gateways[0]);
  const data = gateways[1].databases.organisationData(organisation);
  await data.prepare([products]);
  await gateways[0].control.erasing.begin(organisation.id);
  await expect(data.prepare([customers])).rejects.toMatchObject({ code: 'unavailable' });
  await expect(data.slots.take()).rejects.toMatchObject({ code: 'unavailable' });
  expect((await data.connection.listCollections()).map(({ name }) => name)).toEqual(['products']);
  expect(await erase(organisation, '--no-export')).toMatchObject({ code: 0 });
  await expect(data.prepare([customers])).rejects.toMatchObject({ code: 'unavailable' });
  expect(await isListed(organisation)).toBe(false);
});

test('a collection that was allowed before the erasure and is created afterwards is dropped', async () => {
  const organisation = await makeOrganisation(gateways[0]);
  const data = gateways[1].databases.organisationData(organisation);
  const creating = data.creating.bind(data);
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  let isAllowed = false;
  data.creating = (work) =>
    creating(async () => {
      isAllowed = true;
      await held;
      return work();
    });
  const preparing = data.prepare([products]).catch((error: unknown) => error);
  await eventually(() => isAllowed);
  expect(await erase(organisation, '--no-export')).toMatchObject({ code: 0 });
  letGo();
  expect(await preparing).toMatchObject({ code: 'unavailable' });
  expect(await isListed(organisation)).toBe(false);
});

test('sessions and sign-in links made before end when an erasure begins and leave no rows, and no key, session or link can be created during it', async () => {
  const [{ control, databases }] = gateways;
  const organisation = await makeOrganisation(gateways[0]);
  const { id } = organisation;
  const admin = await signIn(gateways[1], organisation);
  const link = await makeLink(gateways[1], organisation);
  const asAdmin = () => admin.graphql('{ api_keys { has_more } }');
  const rows = () =>
    Promise.all(
      ['sessions', 'sign_in_links'].map((name) =>
        databases.control.collection(name).countDocuments({ organisation_id: id }),
      ),
    );
  expect((await asAdmin()).status).toBe(200);
  expect(await rows()).toEqual([1, 1]);
  await control.erasing.begin(id);
  expect(await rows()).toEqual([0, 0]);
  for (const gateway of gateways) {
    const used = await sendLink(gateway, link);
    expect([used.status, used.headers.getSetCookie()]).toEqual([410, []]);
  }
  expect((await asAdmin()).status).toBe(401);
  const user = { id: 'link:late', name: 'late' };
  expect(await control.sessions.start({ organisationId: id, user, role: 'admin' }, 'here')).toBeUndefined();
  expect(
    await control.sessions.makeLink({ organisationId: id, user, role: 'admin' }, { who: 'a', from: 'b' }),
  ).toBeUndefined();
  await expect(makeKey(gateways[0], organisation)).rejects.toThrow();
  for (const change of [control.organisations.resume(id), control.organisations.rename(id, 'Other')]) {
    expect(await change).toBeUndefined();
  }
  expect(await cli.run('org', 'resume', id)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is being erased; to finish that, run scopegate org erase again') as unknown,
  });
  expect(await cli.json('org', 'show', id)).toMatchObject({ state: 'erasing' });
  const { erased } = JSON.parse((await erase(organisation, '--no-export')).stdout) as { erased: boolean };
  expect(erased).toBe(true);
  expect(await erase(organisation, '--no-export')).toMatchObject({ code: 0 });
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
