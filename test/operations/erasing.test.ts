import { randomUUID } from 'node:crypto';
import type { Organisation } from '../../src/auth/principal';
import type { Store } from '../../src/cli/store';
import { sendStderrTo } from '../../src/cli/terminal';
import { stampedWrite } from '../../src/tenant/openWrites';
import { databaseName } from '../../src/mongo/databaseNames';
import { recordKinds, resourceOf } from '../../src/resources';
import { customers } from '../../src/resources/customers/customers';
import { newFolder } from '../cli/commandLine';
import { erasedBy, isListed, linesOf, openOwn } from './erasures';
import { eventually } from '../api/http/eventually';
import { makeLink, sendLink, signIn } from '../admin/settings/people';
import { client } from '../support/client';
import { updatesCreate } from '../support/differences';
import { makeKey, makeNorthwind, makeOrganisation, northwind } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';
import { hold } from '../support/hold';

const products = resourceOf('products');

/* Erases an organisation, with connections of its own, while two gateways that know it and an import write to it. */

const CONTROL_DATABASE = 'scopegate_erased';
let gateways: readonly [TestGateway, TestGateway];
/** What the command has open. */
let own: Store;

beforeAll(async () => {
  gateways = [await startGateway({ CONTROL_DATABASE }), await startGateway({ CONTROL_DATABASE })];
  own = await openOwn(CONTROL_DATABASE);
  sendStderrTo(() => undefined);
});
afterAll(async () => {
  sendStderrTo(undefined);
  await own.close();
  await Promise.all(gateways.map((gateway) => gateway.stop()));
});

const erased = (organisation: Organisation, folder?: string, signal?: AbortSignal) =>
  erasedBy(own, organisation, folder, signal);

test('neither requests nor an import recreate the database of an erased organisation, and its keys get 401', async () => {
  const organisation = await makeNorthwind(gateways[0], 20);
  const { key } = await makeKey(gateways[0], organisation);
  let isOver = false;
  const statuses = new Map<number, number>();
  let unsure = 0;
  const writers = gateways.flatMap((gateway) =>
    Array.from({ length: 4 }, async (_none, at) => {
      for (let turn = 0; !isOver; turn += 1) {
        const sku = `${String(at)}-${String(turn)}`;
        const headers = at === 0 ? { 'idempotency-key': randomUUID() } : {};
        const caller = client(gateway, key);
        const { status } =
          at === 1
            ? await caller.get('/products', { updated_since: '1970-01-01T00:00:00Z', limit: 1 })
            : at === 2
              ? await caller.post('/requests', { text: sku }, headers)
              : await caller.post('/products/bulk', { products: [{ sku, name: sku }] }, headers);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        // it may have been stored after its request was given up
        if (at === 2 && status === 503) unsure += 1;
      }
    }),
  );
  const [product] = northwind('products');
  // as `import` stores, in many small transactions
  const [data, kind] = [
    gateways[1].databases.organisationData(organisation),
    recordKinds.find(({ file }) => file === 'products')!,
  ];
  let imported = 0;
  const importing = (async () => {
    for (; ; imported += 20) {
      const rows = Array.from({ length: 20 }, () => ({ ...product, id: randomUUID(), sku: randomUUID() }));
      await stampedWrite(data, (session) => kind.store(data, rows as never, session), {
        writes: kind.writes,
        by: 'operator',
      });
    }
  })().catch((error: unknown) => error);
  await eventually(() => (statuses.get(200) ?? 0) > 20 && (statuses.get(201) ?? 0) > 20 && imported >= 100);
  const folder = await newFolder();
  expect(await erased(organisation, folder)).toBe(folder);
  for (const gateway of gateways) expect((await client(gateway, key).get('/me')).status).toBe(401);
  expect(await isListed(gateways[0], organisation)).toBe(false);
  // callers that keep writing for a while
  const before = statuses.get(401) ?? 0;
  await eventually(() => (statuses.get(401) ?? 0) > before + 40);
  isOver = true;
  await Promise.all(writers);
  expect(await importing).toBeInstanceOf(Error);
  expect(await isListed(gateways[0], organisation)).toBe(false);
  // a write in progress may fail because the organisation is closed, or because it took too long
  expect([...statuses.keys()].filter((status) => ![200, 201, 401, 403, 503].includes(status))).toEqual([]);
  // the export has everything that was acknowledged
  const acknowledged = statuses.get(201) ?? 0;
  const exported = (await linesOf(folder, 'requests')).length - 20;
  expect(exported).toBeGreaterThanOrEqual(acknowledged);
  expect(exported).toBeLessThanOrEqual(acknowledged + unsure);
  expect((await linesOf(folder, 'products')).filter((line) => line.includes(String(product!.name))).length).toBe(
    imported + 1,
  );
});

test('a write that began before the erasure and resumes afterwards stores nothing, and creates no database', async () => {
  const organisation = await makeOrganisation(gateways[0]);
  const { key } = await makeKey(gateways[0], organisation);
  const data = gateways[0].databases.organisationData(organisation);
  const caller = client(gateways[0], key);
  expect((await caller.post('/requests', { text: 'first' })).status).toBe(201);
  // one waits with its row taken, the others found no free one and are about to create one
  const [transaction, made] = [data.transaction.bind(data), data.whileWritable.bind(data)];
  const { held, letGo } = hold();
  const waiting: string[] = [];
  data.transaction = async (work, writes) => {
    waiting.push('transaction');
    await held;
    return transaction(work, writes);
  };
  data.whileWritable = async (work) =>
    made(async () => {
      waiting.push('row');
      await held;
      return work();
    });
  const writes = ['one', 'two', 'three'].map((text) => caller.post('/requests', { text }));
  await eventually(() => waiting.length === writes.length);
  expect(waiting.sort()).toEqual(['row', 'row', 'transaction']);
  await erased(organisation);
  expect(await isListed(gateways[0], organisation)).toBe(false);
  letGo();
  for (const { status } of await Promise.all(writes)) expect([401, 403, 503]).toContain(status);
  const client0 = gateways[0].databases.control.getClient();
  expect(await client0.db(databaseName(organisation.id)).collection('requests').countDocuments()).toBe(0);
  // where an update creates a database, the one that gives a row back does so sooner or later
  if (!(await updatesCreate(client0))) expect(await isListed(gateways[0], organisation)).toBe(false);
});

test('no collection is created while an organisation is being erased', async () => {
  const organisation = await makeOrganisation(gateways[0]);
  const data = gateways[1].databases.organisationData(organisation);
  await data.prepare([products]);
  await gateways[0].control.erasing.begin(organisation.id);
  await expect(data.prepare([customers])).rejects.toMatchObject({ code: 'unavailable' });
  await expect(data.slots.begin()).rejects.toMatchObject({ code: 'unavailable' });
  expect((await data.database.listCollections().toArray()).map(({ name }) => name)).toEqual(['products']);
  await erased(organisation);
  await expect(data.prepare([customers])).rejects.toMatchObject({ code: 'unavailable' });
  expect(await isListed(gateways[0], organisation)).toBe(false);
});

test('a collection that was allowed before the erasure and is created afterwards is dropped', async () => {
  const organisation = await makeOrganisation(gateways[0]);
  const data = gateways[1].databases.organisationData(organisation);
  const creating = data.whileWritable.bind(data);
  const { held, letGo } = hold();
  let isAllowed = false;
  data.whileWritable = (work) =>
    creating(async () => {
      isAllowed = true;
      await held;
      return work();
    });
  const preparing = data.prepare([products]).catch((error: unknown) => error);
  await eventually(() => isAllowed);
  await erased(organisation);
  letGo();
  expect(await preparing).toMatchObject({ code: 'unavailable' });
  expect(await isListed(gateways[0], organisation)).toBe(false);
});

test('keys, sessions and sign-in links made before end when an erasure begins and leave no rows, and no key, session or link can be created during it', async () => {
  const [{ control, databases }] = gateways;
  const organisation = await makeOrganisation(gateways[0]);
  const { id } = organisation;
  const admin = await signIn(gateways[1], organisation);
  const link = await makeLink(gateways[1], organisation);
  const { key } = await makeKey(gateways[1], organisation);
  const asKey = () => Promise.all(gateways.map(async (gateway) => (await client(gateway, key).get('/me')).status));
  const asAdmin = () => admin.graphql('{ keys { has_more } }');
  const rows = () =>
    Promise.all(
      ['sessions', 'sign_in_links'].map((name) =>
        databases.control.collection(name).countDocuments({ organisation_id: id }),
      ),
    );
  expect((await asAdmin()).status).toBe(200);
  expect(await asKey()).toEqual([200, 200]);
  expect(await rows()).toEqual([1, 1]);
  await control.erasing.begin(id);
  expect(await rows()).toEqual([0, 0]);
  expect(await asKey()).toEqual([401, 401]);
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
  await erased(organisation);
  // there is nothing left to erase
  expect(await erased(organisation)).toBeUndefined();
});

/** Interrupts an erasure once keys are revoked. */
