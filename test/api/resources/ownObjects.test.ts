// before everything that reads the schema
import '../../support/ownPatch';
import { randomUUID } from 'node:crypto';
import { operator, SECRET, TOKENS } from '../../admin/operator/operator';
import type { Json } from '../../support/client';
import { callerOf, makeOrganisation } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { faultsOfImport } from '../../support/importFaults';

/* What is never null in objects of a folder's types, such as in lines and addresses: it is given, or has a default. */

const gateway = served(TOKENS);
const organisation = late(() => makeOrganisation(gateway));
const caller = late(() => callerOf(gateway, organisation));
const bulk = (invoices: readonly Json[]): Promise<Json> => caller.post('/invoices/bulk', { invoices });
const rowsOf = (collection: string) =>
  gateway.databases.organisationData(organisation).database.collection<Json>(collection);

const pointed = ({ errors }: Json): Json =>
  errors.map(({ pointer, code }: Json) => `${String(code)} ${String(pointer)}`);
/** What an invoice lacks inside its first item and its address, and where a write says so. */
const LACKING = { items: [{ qty: 2 }], address: { floor: '3' } };
const lacking = (at: string): string[] => [`required ${at}/items/0/sku`, `required ${at}/address/street`];

test('what is never null inside an object is required in every write, and nothing of it is made up', async () => {
  const number = `INV-${randomUUID().slice(0, 8)}`;
  const whole = { items: [{ sku: 'A' }, { sku: 'B', qty: 2 }], address: { street: 'Main St 1' } };
  const { body } = await bulk([
    { number, total_minor: 1, ...whole },
    { number: 'NONE', total_minor: 1, ...LACKING },
  ]);
  expect(body).toMatchObject({ created: 1, failed: 1 });
  expect(pointed(body.results[1])).toEqual(lacking('/invoices/1'));
  const path = `/invoices/${String(body.results[0].id)}`;
  const read = async (): Promise<Json> => (await caller.get(path)).body;
  const before = await read();
  expect(before).toMatchObject({
    items: [
      { position: 0, sku: 'A', qty: 1 },
      { position: 1, sku: 'B', qty: 2 },
    ],
    address: { street: 'Main St 1', floor: null },
  });
  const changed = await caller.patch(path, LACKING);
  expect([changed.status, pointed(changed.body)]).toEqual([422, lacking('')]);
  const change = `mutation($id: ID!, $items: [InvoiceItemInput!], $address: InvoiceAddressInput) {
    update_invoice(id: $id, items: $items, address: $address) { id } }`;
  const mutated = await caller.graphql(change, { id: before.id, ...LACKING });
  expect(pointed(mutated.body.errors[0].extensions)).toEqual(lacking(''));

  const writes = [
    { type: 'invoice', put: { number, total_minor: 1, ...LACKING } },
    { type: 'invoice', patch: { number, ...LACKING } },
  ];
  const written = await operator(gateway).post(`/organisations/${organisation.id}/writes`, { writes });
  expect(written.body.results.map(pointed)).toEqual([lacking('/writes/0/put'), lacking('/writes/1/patch')]);
  const lines = await fetch(`${gateway.url}/operator/v1/writes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/x-ndjson' },
    body: JSON.stringify({ organisation: organisation.id, ...writes[0] }),
  });
  expect(pointed(JSON.parse(await lines.text()))).toEqual(lacking('/put'));
  const record = { ...before, customer_id: null, items: [{ id: randomUUID(), position: 0, qty: 2 }] };
  expect(await faultsOfImport(gateway, await makeOrganisation(gateway), { invoices: [record] })).toMatchObject([
    { pointer: '/items/0/sku', code: 'required' },
  ]);
  expect(await read()).toEqual(before);
});

test('so it is where a type has no bulk call, and a PATCH fills in what has a default, as bulk calls do', async () => {
  const _id = randomUUID();
  const at = new Date(0);
  const tasks = rowsOf('tasks');
  await tasks.insertOne({ _id, state: 'open', weight: 1, urgent: true, created_at: at, updated_at: at });
  const refused = await caller.patch(`/tasks/${_id}`, { steps: [{ title: 'Saw' }, { minutes: 1 }] });
  expect([refused.status, pointed(refused.body)]).toEqual([422, ['required /steps/1/title']]);
  const step = { title: 'Saw', at: '2026-11-29T10:00:00.000Z' };
  // on a read, `include` is a parameter
  const { status, body } = await caller.patch(`/tasks/${_id}`, { steps: [step], include: 'Ada' });
  expect([status, body.include, body.steps]).toEqual([
    200,
    'Ada',
    [{ id: expect.any(String), position: 0, minutes: 5, ...step }],
  ]);
  const { body: again } = await caller.patch(`/tasks/${_id}`, { steps: [step], include: 'Ada' });
  expect(again).toEqual(body);
  const writes = ['Bo', 'Bo'].map((include) => ({ type: 'task', patch: { id: _id, include } }));
  const written = await operator(gateway).post(`/organisations/${organisation.id}/writes`, { writes });
  expect(written.body.results.map(({ outcome }: Json) => outcome)).toEqual(['updated', 'unchanged']);
  expect((await caller.get(`/tasks/${_id}`)).body).toMatchObject({ include: 'Bo', steps: body.steps });
});

test('a list without limit has as many rows as its own default says', async () => {
  const at = new Date(0);
  const tasks = Array.from({ length: 4 }, () => ({ _id: randomUUID(), state: 'open', weight: 1, urgent: true }));
  await rowsOf('tasks').insertMany(tasks.map((task) => ({ ...task, created_at: at, updated_at: at })));
  const { body: listed } = await caller.get('/tasks');
  const { body: queried } = await caller.graphql('{ tasks { data { id steps { id } } has_more } }');
  for (const page of [listed, queried.data.tasks]) expect([page.data.length, page.has_more]).toEqual([3, true]);
});

test("the operators' document says what is the most in a list, and what may be null", async () => {
  const { body } = await operator(gateway).get('/openapi.json');
  const { TaskPut: task, OrderPut: order, CustomerPut: customer } = body.components.schemas;
  expect(task.properties.steps.maxItems).toBe(5);
  expect(order.properties.lines.maxItems).toBe(1000);
  expect(task.properties.state).toMatchObject({ type: ['string', 'null'], enum: ['open', 'done', null] });
  const { description: _ref, ...ref } = order.properties.customer_ref;
  const { description: _own, ...own } = customer.properties.external_ref;
  expect(ref).toEqual({ ...own, type: ['string', 'null'] });
});

test('operators name what any relation follows by external_ref, and no erased customer', async () => {
  const [billed, erased] = [randomUUID(), randomUUID()];
  const invoice = (billing_customer_ref: string): Json => ({
    type: 'invoice',
    put: { number: `INV-${randomUUID().slice(0, 8)}`, total_minor: 1, billing_customer_ref },
  });
  const customers = [billed, erased].map((ref) => ({ type: 'customer', put: { external_ref: ref, name: 'N' } }));
  const path = `/organisations/${organisation.id}/writes`;
  const { body } = await operator(gateway).post(path, { writes: [...customers, invoice(billed)] });
  const [{ id }, , { id: invoiceId }] = body.results;
  expect(await rowsOf('invoices').findOne({ _id: invoiceId })).toMatchObject({ billing_customer_id: id });
  await rowsOf('customers').updateOne({ external_ref: erased }, { $set: { erased_at: new Date() } });
  const refused = await operator(gateway).post(path, { writes: [invoice(erased), invoice('none')] });
  expect(refused.body.results.map(pointed)).toEqual([
    ['erased /writes/0/put/billing_customer_ref'],
    ['not_found /writes/1/put/billing_customer_ref'],
  ]);
  const { body: document } = await operator(gateway).get('/openapi.json');
  expect(document.components.schemas.InvoicePut.properties).toHaveProperty('billing_customer_ref');
});

test('what a stored object lacks is required of the next bulk element, not made up', async () => {
  const number = `INV-${randomUUID().slice(0, 8)}`;
  await bulk([{ number, total_minor: 1 }]);
  const invoices = rowsOf('invoices');
  await invoices.updateOne({ number }, { $unset: { total_minor: 1 } }, { bypassDocumentValidation: true });
  const { body } = await bulk([{ number, due_on: '2999-01-01' }]);
  expect(pointed(body.results[0])).toEqual(['required /invoices/0/total_minor']);
  expect(await invoices.findOne({ number })).not.toHaveProperty('total_minor');
  expect((await bulk([{ number, total_minor: 2 }])).body).toMatchObject({ updated: 1 });
});

test('an object of a type with long lists may have all of their values, and each is checked', async () => {
  const marked = (text: string): Json => {
    const marks = Array.from({ length: 7000 }, () => ({ id: randomUUID(), text: 'x' }));
    return {
      number: randomUUID(),
      total_minor: 1,
      lines: [{ marks: [...marks.slice(1), { id: randomUUID(), text }] }],
    };
  };
  const [sent, broken] = [marked('last'), marked('\u0001')];
  const { body } = await bulk([broken]);
  expect(pointed(body.results[0])).toEqual(['format /invoices/0/lines/0/marks/6999/text']);
  const writes = [sent, broken].map((put) => ({ type: 'invoice', put }));
  const written = await operator(gateway).post(`/organisations/${organisation.id}/writes`, { writes });
  expect(written.body.results.map(pointed)).toEqual([[], ['format /writes/1/put/lines/0/marks/6999/text']]);
  const stored = await rowsOf('invoices').findOne({ number: sent.number });
  expect(stored?.lines[0].marks).toHaveLength(7000);
});
