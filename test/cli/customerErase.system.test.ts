import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Organisation } from '../../src/auth/principal';
import { databaseName } from '../../src/mongo/databaseNames';
import { idempotencyRecords } from '../../src/tenant/idempotency';
import { client } from '../support/client';
import { makeKey, makeOrganisation, northwind, store } from '../support/factories';
import { driver, late, served } from '../support/gateway';
import { threadRecord } from '../support/threads';
import { commandLine, NOBODY, newFolder } from './commandLine';

const CONTROL_DATABASE = 'scopegate_customers';
const cli = commandLine({ CONTROL_DATABASE });
/** Texts that must not be found anywhere afterwards. */
const SECRETS = [
  ...['Wilhelmina', 'Zuckerschatz', 'w.zucker@example.com', '+49 30 555', 'Geheimgasse', 'DE 99 88', 'PO-Wil'],
];
const known = northwind('customers')[0]!;
const customer = {
  ...known,
  name: 'Wilhelmina Zuckerschatz',
  email: 'w.zucker@example.com',
  phone: '+49 30 555',
  vat_number: 'DE 99 88',
  billing_address: { line1: 'Geheimgasse 1', line2: null, city: 'Bonn', region: null, postcode: '1', country: 'DE' },
  delivery_address: { line1: 'Geheimgasse 2', line2: null, city: 'Bonn', region: null, postcode: '1', country: 'DE' },
};
const contact = { name: 'Wilhelmina', email: 'w.zucker@example.com', phone: null };

const gateway = served({ CONTROL_DATABASE });
const bare = driver();
const organisation: Organisation = late(() => makeOrganisation(gateway, { name: 'Personal' }));

beforeAll(async () => {
  const contacts = [{ ...(customer as never as { contacts: object[] }).contacts[0], ...contact }];
  const orders = northwind('orders').map((row) => ({
    ...row,
    ...(row.customer_id === customer.id && {
      delivery_address: customer.delivery_address,
      customer_reference: 'PO-Wilhelmina',
    }),
  }));
  const thread = {
    ...threadRecord(['Regards, Wilhelmina', 'Dear Ms Zuckerschatz']),
    customer_id: customer.id,
    contact,
  };
  await store(gateway, organisation, {
    customers: [{ ...customer, contacts }, ...northwind('customers').slice(1)],
    quotes: northwind('quotes'),
    orders,
    requests: [thread, threadRecord(['Of somebody else'])],
  });
});

/** All rows of the organisation's database, and the audit log, as one text. */
async function everything(): Promise<string> {
  const found: string[] = [];
  for (const name of [databaseName(organisation.id), CONTROL_DATABASE]) {
    for (const collection of await bare.db(name).collections()) {
      found.push(JSON.stringify(await collection.find().toArray()));
    }
  }
  return found.join('\n');
}

const recorded = async (action: string): Promise<number> =>
  (await cli.json<unknown[]>('audit', '--org', organisation.id, '--action', action)).length;

async function exported(): Promise<Record<string, Record<string, unknown>[]>> {
  const folder = join(await newFolder(), 'export');
  await cli.json('export', '--org', organisation.id, folder);
  const files = ['customers', 'quotes', 'orders', 'requests'].map(async (file) => {
    const lines = (await readFile(join(folder, `${file}.ndjson`), 'utf8')).trimEnd().split('\n');
    return [file, lines.map((line) => JSON.parse(line) as Record<string, unknown>)] as const;
  });
  return Object.fromEntries(await Promise.all(files));
}

test("a customer's personal data are erased everywhere; ids, amounts and other customers stay", async () => {
  const caller = client(gateway, (await makeKey(gateway, organisation)).key);
  const request = { text: 'It is me, Wilhelmina', customer_id: customer.id, contact };
  const retried = { 'idempotency-key': 'retried' };
  expect((await caller.post('/requests', request, retried)).status).toBe(201);
  const before = await exported();
  for (const secret of SECRETS) expect(await everything()).toContain(secret);

  await cli.failed(2, 'customer', 'erase', customer.id, '--org', organisation.id, '--confirm', 'Somebody');
  expect(await everything()).toContain('Zuckerschatz');

  // ids in capitals are the same ids
  const args = ['customer', 'erase', customer.id.toUpperCase(), '--org', organisation.id, '--confirm', customer.name];
  const orders = before.orders!.filter((row) => row.customer_id === customer.id);
  expect(await cli.json(...args)).toEqual({
    id: customer.id,
    erased: { customers: 1, quotes: 0, orders: orders.length, requests: 2, messages: 3 },
  });
  const left = await everything();
  // search words are stored in capitals without accents
  expect([...SECRETS, 'WILHELMINA', 'ZUCKERSCHATZ'].filter((secret) => left.includes(secret))).toEqual([]);
  expect(left).toContain('customer.erased');

  const after = await exported();
  const erasedAddress = { delivery_address: null, customer_reference: null, updated_at: expect.any(String) as unknown };
  expect(after.quotes).toEqual(before.quotes);
  expect(after.orders).toEqual(
    before.orders!.map((row) => (row.customer_id === customer.id ? { ...row, ...erasedAddress } : row)),
  );
  const isErased = ({ id }: { readonly id?: unknown }): boolean => id === customer.id;
  const others = (rows: readonly object[]) => rows.filter((row) => !isErased(row));
  expect(others(after.customers!)).toEqual(others(before.customers!));
  expect(after.customers!.find(isErased)).toEqual({
    id: customer.id,
    external_ref: known.external_ref,
    name: 'erased',
    created_at: known.created_at,
    email: null,
    phone: null,
    vat_number: null,
    billing_address: null,
    delivery_address: null,
    contacts: [],
    metadata: {},
    erased_at: expect.any(String) as unknown,
    updated_at: expect.any(String) as unknown,
  });
  expect(after.customers!.find(isErased)!.updated_at).not.toBe(before.customers!.find(isErased)!.updated_at);
  expect(after.requests!.filter((row) => row.customer_id !== customer.id)).toEqual(
    before.requests!.filter((row) => row.customer_id !== customer.id),
  );
  const records = gateway.databases.organisationData(organisation).collection(idempotencyRecords);
  expect(await records.countDocuments({ 'answer.search': { $exists: true } })).toBe(0);
  // it is replayed, not stored again
  const again = await caller.post('/requests', request, retried);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.text).not.toContain('Wilhelmina');
  // a second call finds nothing to erase
  expect(await cli.json(...args)).toEqual({
    id: customer.id,
    erased: { customers: 0, quotes: 0, orders: 0, requests: 0, messages: 0 },
  });
  // and is recorded, since the first may have been killed before that
  expect(await recorded('customer.erased')).toBe(2);
});

test('an export made after the erasure can be imported', async () => {
  const folder = join(await newFolder(), 'export');
  await cli.json('export', '--org', organisation.id, folder);
  expect(await cli.json('import', '--org', organisation.id, folder)).toMatchObject({ errors: [] });
});

test('an erased customer is written by nobody until it is readmitted, which is audited', async () => {
  const { key } = await makeKey(gateway, organisation);
  const caller = client(gateway, key);
  const upsert = async (): Promise<unknown> => {
    const { body } = await caller.post('/customers/bulk', {
      customers: [{ external_ref: known.external_ref, name: 'Back' }],
    });
    return body.results[0].errors.map(({ code, pointer }: Record<string, unknown>) => [code, pointer]);
  };
  expect(await upsert()).toEqual([['erased', '/customers/0']]);
  const path = `/customers/${customer.id}`;
  expect(await caller.patch(path, { name: 'Back' })).toMatchObject({
    status: 422,
    body: {
      detail: 'This customer was erased; only the operator can readmit it.',
      errors: [{ pointer: '', code: 'erased' }],
    },
  });
  const opened = await caller.post('/requests', { text: 'Hello', customer_id: customer.id });
  expect(opened.body.errors).toMatchObject([{ pointer: '/customer_id', code: 'erased' }]);
  const ref = String(known.external_ref);
  // by either of its names
  const args = ['customer', 'readmit', customer.id, '--org', organisation.id] as const;
  expect(await cli.json(...args)).toEqual({ id: customer.id, external_ref: ref });
  expect(await cli.failed(1, ...args)).toContain('was not erased');
  expect(await upsert()).toEqual([]);
  expect((await caller.get(path)).body).toMatchObject({ name: 'Back', erased_at: null });
  expect(await recorded('customer.readmitted')).toBe(1);
});

test('a customer that does not exist is an error', async () => {
  const said = await cli.failed(1, 'customer', 'erase', NOBODY, '--org', organisation.id, '--confirm', 'x');
  expect(said).toContain(`customer ${NOBODY} not found`);
});
