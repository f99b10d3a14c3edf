// before everything that reads the schema
import '../../support/ownPatch';
import { randomUUID } from 'node:crypto';
import { mongo } from 'mongoose';
import { resourceOf } from '../../../src/resources';
import { eraseCustomer } from '../../../src/resources/eraseCustomer';
import { client, type Json } from '../../support/client';
import { callerOf, makeKey, makeOrganisation } from '../../support/factories';
import { late, served } from '../../support/gateway';

/* Customers that objects of a folder's types refer to: which they may be, what is listed with them, and what their erasure removes. */

const gateway = served();
const organisation = late(() => makeOrganisation(gateway));
const caller = late(() => callerOf(gateway, organisation));
const bulk = (invoices: readonly Json[]): Promise<Json> => caller.post('/invoices/bulk', { invoices });

test("a customer's invoices are listed with it", async () => {
  const customer = { external_ref: 'C-1', name: 'One' };
  const { body } = await caller.post('/customers/bulk', { customers: [customer] });
  await bulk([{ number: 'OF-1', total_minor: 1, customer_id: body.results[0].id.toUpperCase() }]);
  const query = '{ customers(external_ref: "C-1") { data { invoices { data { number customer { name } } } } } }';
  const { body: found } = await caller.graphql(query);
  expect(found.data.customers.data).toEqual([{ invoices: { data: [{ number: 'OF-1', customer: { name: 'One' } }] } }]);
});

test('an invoice refers to a customer that is there, in bulk calls and changes, as in writes of the operator', async () => {
  const { body: made } = await caller.post('/customers/bulk', { customers: [{ external_ref: 'C-2', name: 'Two' }] });
  const { id } = made.results[0];
  const invoice = (number: string, customer_id: unknown): Json => ({ number, total_minor: 1, customer_id });
  const data = gateway.databases.organisationData(organisation);
  const find = jest.spyOn(data.collection(resourceOf('customers')), 'find');
  const nobody = randomUUID();
  const { body } = await bulk([invoice('R-1', id), invoice('R-2', nobody), invoice('R-3', 'x'), invoice('R-4', null)]);
  expect(find).toHaveBeenCalledTimes(1);
  find.mockRestore();
  const detail = 'is not the id of a customer of the organisation';
  const wrong = { pointer: '/invoices/1/customer_id', code: 'not_found', detail };
  expect(body.results.map(({ errors }: Json) => errors)).toMatchObject([[], [wrong], [{ code: 'format' }], []]);
  const { body: dry } = await caller.post('/invoices/bulk', { invoices: [invoice('R-1', nobody)], dry_run: true });
  expect(dry).toMatchObject({ failed: 1 });

  const change = (customer_id: unknown) => caller.patch(`/invoices/${String(body.results[0].id)}`, { customer_id });
  const refused = { status: 422, body: { errors: [{ ...wrong, pointer: '/customer_id' }] } };
  expect(await change(nobody)).toMatchObject(refused);
  expect(await change(null)).toMatchObject({ status: 200, body: { customer_id: null } });
  expect(await change(id)).toMatchObject({ status: 200, body: { customer_id: id } });

  await data.collection(resourceOf('customers')).updateOne({ _id: id }, { $set: { erased_at: new Date() } as never });
  const erased = await bulk([invoice('R-5', id)]);
  expect(erased.body.results[0].errors).toMatchObject([{ pointer: '/invoices/0/customer_id', code: 'erased' }]);
});

test('an invoice may be sent back as it was read after its customer was deleted or erased, and has no new references', async () => {
  const customers = ['C-4', 'C-5', 'C-6'].map((external_ref) => ({ external_ref, name: external_ref }));
  const { body: made } = await caller.post('/customers/bulk', { customers });
  const [gone, erased, other] = made.results.map(({ id }: Json) => id as string) as [string, string, string];
  const sent = [gone, erased, other].map((customer_id, at) => ({
    number: `G-${String(at)}`,
    total_minor: 1,
    customer_id,
  }));
  const { body: stored } = await bulk(sent);
  const rows = gateway.databases.organisationData(organisation).collection(resourceOf('customers'));
  await rows.deleteOne({ _id: gone });
  await rows.updateOne({ _id: erased }, { $set: { erased_at: new Date() } as never });
  const outcomes = async (change: Json): Promise<unknown[]> =>
    (await bulk(sent.map((row) => ({ ...row, ...change })))).body.results.map(
      ({ outcome, errors }: Json) => errors[0]?.code ?? outcome,
    );
  expect(await outcomes({})).toEqual(['unchanged', 'unchanged', 'unchanged']);
  // what the erasure removed does not come back
  expect(await outcomes({ total_minor: 2 })).toEqual(['updated', 'erased', 'updated']);
  // nor do elements bring it back that do not name the customer
  const address = { street: '5 Main St' };
  const unnamed = sent.map(({ number }) => ({ number, address }));
  const { results } = (await bulk(unnamed)).body;
  expect(results.map(({ outcome, errors: [fault] }: Json) => fault?.pointer ?? outcome)).toEqual([
    'updated',
    '/invoices/1/customer_id',
    'updated',
  ]);
  for (const customer_id of [gone, erased]) {
    const code = customer_id === gone ? 'not_found' : 'erased';
    expect((await outcomes({ customer_id })).slice(2)).toEqual([code]);
  }
  const patched = async (at: number, change: Json): Promise<unknown> => {
    const { status, body } = await caller.patch(`/invoices/${String(stored.results[at].id)}`, change);
    return body.errors?.[0].code ?? status;
  };
  expect(await patched(0, { customer_id: gone.toUpperCase(), paid_minor: 3 })).toBe(200);
  expect(await patched(1, { customer_id: erased })).toBe(200);
  expect(await patched(1, { customer_id: erased, paid_minor: 3 })).toBe('erased');
  expect([await patched(1, { address }), await patched(1, { paid_minor: 3 })]).toEqual(['erased', 200]);
  expect([await patched(2, { customer_id: gone }), await patched(2, { customer_id: erased })]).toEqual([
    'not_found',
    'erased',
  ]);
});

test('erasing a customer removes texts in members that the schema does not have', async () => {
  const { body: made } = await caller.post('/customers/bulk', { customers: [{ external_ref: 'C-3', name: 'Three' }] });
  const { id } = made.results[0];
  await bulk([{ number: 'E-1', total_minor: 1, customer_id: id, lines: [{ marks: [{}] }] }]);
  const data = gateway.databases.organisationData(organisation);
  const texts = { remark: 'Lives at 5 Main St', notes: [{ text: 'Mrs Smith' }], pattern: /Smith/ };
  const left = { ...texts, scan: new mongo.Binary(Buffer.from('Mrs Smith')), code: new mongo.Code('"Mrs Smith"') };
  const ids = { uuid: new mongo.BSON.UUID(), object_id: new mongo.ObjectId() };
  const kept = { __v: 3, seen_at: new Date(), paid: true, ...ids, sum: mongo.Decimal128.fromString('1.5') };
  const [of, named] = [data.collection(resourceOf('invoices')), { number: 'E-1' } as never];
  const inside = { 'lines.0.remark': 'Mrs Smith', 'lines.0.marks.0.remark': 'Mrs Smith', 'lines.0.marks.0.__v': 3 };
  const { lines: before } = (await of.findOne(named)) as unknown as { lines: [{ marks: [object] }] };
  await of.updateOne(named, { $set: { ...left, ...kept, ...inside } as never });
  const signal = new AbortController().signal;
  const erased = await eraseCustomer(data, id, { by: 'operator', signal });
  expect(erased).toMatchObject({ customers: 1, invoices: 1 });
  const row = await of.findOne(named);
  expect(row).toMatchObject({ ...kept, total_minor: 1, customer_id: id, search: ['E', '1'] });
  for (const name of Object.keys(left)) expect(row).not.toHaveProperty(name);
  const [line] = before;
  expect(row).toHaveProperty('lines', [{ ...line, marks: [{ ...line.marks[0], __v: 3 }] }]);
  expect(await eraseCustomer(data, id, { by: 'operator', signal })).toMatchObject({ customers: 0 });
});

test("an element with the number of another customer's invoice fails alone for a key for some customers, and names no object", async () => {
  const customers = ['C-7', 'C-8'].map((external_ref) => ({ external_ref, name: external_ref }));
  const { body: made } = await caller.post('/customers/bulk', { customers });
  const [mine, theirs] = made.results.map(({ id }: Json) => id as string) as [string, string];
  const invoice = (number: string, customer_id: string): Json => ({ number, total_minor: 1, customer_id });
  const { body: stored } = await bulk([invoice('T-1', theirs), invoice('T-2', mine)]);
  const restricted = client(gateway, (await makeKey(gateway, organisation, { customerIds: [mine] })).key);
  const invoices = ['T-1', 'T-2', 'T-3'].map((number) => ({ ...invoice(number, mine), total_minor: 2 }));
  const fault = { pointer: '/invoices/0/number', code: 'conflict', detail: 'belongs to another invoice' };
  for (const dry_run of [true, false]) {
    const { status, body, text } = await restricted.post('/invoices/bulk', { invoices, dry_run });
    expect([status, body.results?.map(({ outcome }: Json) => outcome as string)]).toEqual([
      200,
      ['failed', 'updated', 'created'],
    ]);
    expect(body.results[0]).toMatchObject({ id: null, errors: [fault] });
    expect(text).not.toContain(stored.results[0].id);
  }
  const atomic = await restricted.post('/invoices/bulk', { invoices, atomic: true });
  expect(atomic).toMatchObject({ status: 422, body: { code: 'validation_failed', errors: [fault] } });
  expect((await caller.get(`/invoices/${String(stored.results[0].id)}`)).body).toMatchObject({ total_minor: 1 });
});
