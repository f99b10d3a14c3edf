import type { Json } from '../../support/client';
import { commandsOf, startWatchedGateway } from '../../support/commands';
import { query } from '../../support/faces';
import { callerOf, makeOrganisation, makeStored, store } from '../../support/factories';
import { late, servedBy } from '../../support/gateway';
import { expectedRows, northwindRecords, RESOURCES, selection, toRow } from '../../support/resources';

const { quotes, orders, ...others } = northwindRecords();
const some = orders.slice(0, 250);
const records = {
  ...others,
  orders: some,
  quotes: quotes.filter(({ id }, at) => at % 10 === 0 || some.some(({ quote_id: of }) => of === id)),
};

const gateway = servedBy(startWatchedGateway);
const organisation = late(() => makeStored(gateway, records));
const caller = late(() => callerOf(gateway, organisation));

const rowsById = new Map(RESOURCES.flatMap(({ list }) => records[list].map((record) => [record.id, toRow(record)])));
const fieldsOf = (list: string): string => selection(RESOURCES.find((resource) => resource.list === list)!);
/** A customer with several rows of each kind, and one without. */
const rowsOf = (list: 'requests' | 'orders', id: unknown) => records[list].filter((row) => row.customer_id === id);
const busy = records.customers.find(({ id }) => rowsOf('requests', id).length > 2)!.id;
const idle = records.customers.find(({ id }) => rowsOf('orders', id).length === 0)!.id;

async function commandNames(document: string, variables: Json = {}): Promise<string[]> {
  const sent = await commandsOf(gateway, organisation, () => query(caller, document, variables));
  return sent.map(({ name }) => name);
}

describe('a relation to one object', () => {
  test('of an order is its customer or quote, complete with lines', async () => {
    const document = `{ orders(limit: 100) { data { customer_id quote_id
      customer { ${fieldsOf('customers')} } quote { ${fieldsOf('quotes')} customer { id } } } } }`;
    const { orders } = await query(caller, document);
    expect(orders.data).toHaveLength(100);
    for (const { customer_id: customerId, quote_id: quoteId, customer, quote } of orders.data) {
      expect(customer).toEqual(rowsById.get(customerId));
      expect(quote).toEqual({ ...rowsById.get(quoteId), customer: { id: customerId } });
    }
  });

  test('is null if the id is null or its object does not exist', async () => {
    const own = await makeOrganisation(gateway);
    const [order, other] = records.orders;
    await store(gateway, own, { orders: [{ ...order!, customer_id: null, quote_id: null }, other!] });
    const reader = await callerOf(gateway, own);
    const { orders } = await query(reader, '{ orders { data { customer { id } quote { id } } } }');
    expect(orders.data).toEqual([
      { customer: null, quote: null },
      { customer: null, quote: null },
    ]);
  });

  test.each([
    ['orders', 'customer { id name } quote { id number lines { id } customer { id } }'],
    ['orders', 'customer { id }'],
    ['quotes', 'customer { name contacts { name } }'],
  ])('of 100 %s needs no more commands than of one: %s', async (list, relations) => {
    const document = `query($limit: Int!) { ${list}(limit: $limit) { data { id ${relations} } } }`;
    const ofOne = await commandNames(document, { limit: 1 });
    const ofHundred = await commandNames(document, { limit: 100 });
    expect(ofHundred).toEqual(ofOne);
    expect(ofOne.length).toBeGreaterThan(1);
  });

  test('is read once by a query, whatever selects it, under however many aliases', async () => {
    const each = (at: number): string => ['id', 'name', 'contacts { id }', 'email'][at % 4]!;
    const aliases = Array.from(
      { length: 20 },
      (_, at) => `a${String(at)}: orders(limit: 20) { data { customer { ${each(at)} } } }`,
    );
    const sent = await commandsOf(gateway, organisation, () => query(caller, `{ ${aliases.join(' ')} }`));
    const reads = sent.filter(({ command }) => command.find === 'customers').map(({ command }) => command);
    const ids = reads.flatMap(({ filter }) => filter._id.$in ?? [filter._id]) as string[];
    expect(ids.length).toBeGreaterThan(1);
    expect(new Set(ids).size).toBe(ids.length);
    expect(reads[0]!.projection).toEqual({ _id: 1, name: 1, 'contacts.id': 1, email: 1 });
  });

  test('is read again by each field of a mutation, which sees what those before it wrote', async () => {
    const own = await makeOrganisation(gateway);
    const thread = records.requests.find(({ customer_id: id }) => id === busy)!;
    await store(gateway, own, { customers: [records.customers.find(({ id }) => id === busy)!], requests: [thread] });
    const change = `update_request(id: "${thread.id}", subject: "Again") { customer { name } }`;
    const rename = `update_customer(id: "${busy}", name: "Renamed") { id }`;
    const done = await query(await callerOf(gateway, own), `mutation { a: ${change} b: ${rename} c: ${change} }`);
    expect([done.a.customer.name, done.c.customer.name]).toEqual([rowsById.get(busy).name, 'Renamed']);
  });

  test.each<[string, [string, Json][]]>([
    [
      'orders(limit: 5) { data { quote { number } } }',
      [
        ['orders', { _id: 1, created_at: 1, quote_id: 1 }],
        ['quotes', { _id: 1, number: 1 }],
      ],
    ],
    [
      'requests(limit: 5, sort: "-updated_at") { data { customer { id } } }',
      [
        ['requests', { _id: 1, customer_id: 1, updated_at: 1 }],
        ['customers', { _id: 1 }],
      ],
    ],
    [
      'orders(limit: 5) { data { customer { ...a contacts { __typename } } delivery_address { city } } }',
      [
        ['orders', { _id: 1, created_at: 1, customer_id: 1, 'delivery_address.city': 1 }],
        ['customers', { _id: 1, name: 1, 'contacts.role': 1 }],
      ],
    ],
    [
      'orders(limit: 5) { data { customer { contacts { __typename } } customer_id } }',
      [
        ['orders', { _id: 1, created_at: 1, customer_id: 1 }],
        ['customers', { _id: 1, 'contacts.id': 1 }],
      ],
    ],
    [
      'quotes(limit: 5) { data { customer { etag } } }',
      [
        ['quotes', { _id: 1, created_at: 1, customer_id: 1 }],
        ['customers', { search: 0 }],
      ],
    ],
  ])('reads only what is selected: %s', async (selected, expected) => {
    const fragment = selected.includes('...a') ? 'fragment a on Customer { name contacts { role } }' : '';
    const sent = await commandsOf(gateway, organisation, () => query(caller, `{ ${selected} } ${fragment}`));
    const finds = sent.filter(({ name }) => name === 'find').map(({ command }) => [command.find, command.projection]);
    expect(finds).toEqual(expected);
  });
});

describe.each(['quotes', 'orders', 'requests'] as const)("a customer's %s", (list) => {
  const ofCustomer = (id: string) => ({ keeps: (row: Json) => row.customer_id === id });
  const document = `query($id: ID!, $limit: Int, $cursor: String) {
    customer(id: $id) { ${list}(limit: $limit, cursor: $cursor) { data { ${fieldsOf(list)} } has_more next_cursor } }
    ${list}(customer_id: $id, limit: $limit, cursor: $cursor) { data { ${fieldsOf(list)} } has_more next_cursor }
  }`;

  test('have the same pages and cursors as the list filtered by customer', async () => {
    for (const id of [busy, idle])
      for (let cursor: unknown = null, pages = 0; pages === 0 || cursor !== null; pages += 1) {
        const { customer, [list]: listed } = await query(caller, document, { id, limit: 1, cursor });
        expect(customer[list]).toEqual(listed);
        cursor = listed.next_cursor;
        expect(pages).toBeLessThan(200);
      }
  });

  test("reject another customer's cursor without affecting other fields", async () => {
    const { customer } = await query(caller, document, { id: busy, limit: 1 });
    const { next_cursor: cursor } = customer[list];
    const mixed = `{ customer(id: "${idle}") { name ${list}(cursor: "${String(cursor)}") { data { id } } } }`;
    const { body } = await caller.graphql(mixed);
    expect(body.data.customer).toEqual({ name: rowsById.get(idle).name, [list]: null });
    expect(body.errors[0].extensions).toMatchObject({ code: 'invalid_request', errors: [{ parameter: 'cursor' }] });
  });

  test('are 20 by default, and at most 100', async () => {
    const { customer } = await query(caller, `{ customer(id: "${busy}") { ${list} { data { id } } } }`);
    const all = expectedRows(records[list], ofCustomer(busy));
    expect(customer[list].data).toHaveLength(Math.min(20, all.length));
    const { body } = await caller.graphql(`{ customer(id: "${busy}") { ${list}(limit: 101) { data { id } } } }`);
    expect(body.errors[0].extensions).toMatchObject({ code: 'invalid_request', errors: [{ parameter: 'limit' }] });
  });

  test('of 91 customers together are the same as of each separately', async () => {
    const fields = `id ${list}(limit: 2) { data { id } has_more next_cursor }`;
    const { customers } = await query(caller, `{ customers(limit: 100) { data { ${fields} } } }`);
    expect(customers.data).toHaveLength(91);
    for (const { id, [list]: page } of customers.data.slice(0, 10)) {
      expect(page).toEqual({
        ...page,
        data: expectedRows(records[list], ofCustomer(id))
          .slice(0, 2)
          .map((row) => ({ id: row.id })),
      });
      const { customer } = await query(caller, `{ customer(id: "${String(id)}") { ${fields} } }`);
      expect(customer[list]).toEqual(page);
    }
  });
});

test('all relations of a page of customers need no more commands than those of one customer', async () => {
  const document = `query($limit: Int!, $id: [ID!]) { customers(limit: $limit, id: $id) { data {
    quotes(limit: 2) { data { id customer { id } } } orders(limit: 2) { data { id quote { id } } } requests { data { id } }
  } } }`;
  expect((await commandNames(document, { limit: 91 })).sort()).toEqual(
    (await commandNames(document, { limit: 1, id: [busy] })).sort(),
  );
});
