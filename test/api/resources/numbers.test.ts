import mongoose from 'mongoose';
import type { Organisation } from '../../../src/auth/principal';
import { recordReaders } from '../../../src/cli/records';
import { STATELESS } from '../../../src/mcp/protocol';
import { recordKinds, resourceOf } from '../../../src/resources';
import { type Answer, type Client, client, type Json } from '../../support/client';
import { GRAPHQL, refusal } from '../../support/faces';
import { callerOf, makeKey, makeOrganisation, northwind, store } from '../../support/factories';
import { late, served } from '../../support/gateway';

const orders = resourceOf('orders');
const products = resourceOf('products');

/* Numbers as JSON and clients write them, and in totals those of other programs (of which in reads: invalidRows.test.ts). */

const gateway = served({ STORED_VALIDATION: 'off' });

const newOrganisation = (): Promise<Organisation> => makeOrganisation(gateway);

/** An organisation with three orders, in one of which another program sets members. */
async function withWritten(members: Json): Promise<{ caller: Client; broken: string; sound: string }> {
  const organisation = await newOrganisation();
  const [customer] = northwind('customers');
  const rows: Json[] = northwind('orders')
    .slice(0, 3)
    .map((order, at) => ({
      ...order,
      customer_id: customer!.id,
      created_at: `2026-01-0${String(at + 1)}T00:00:00.000Z`,
    }));
  await store(gateway, organisation, { customers: [customer!], orders: rows });
  const data = gateway.databases.organisationData(organisation);
  await data.collection(orders).updateOne({ _id: rows[1].id }, { $set: members });
  return { caller: await callerOf(gateway, organisation), broken: rows[1].id, sound: rows[2].id };
}

test.each<[string, string, unknown]>([
  ['order_totals', 'total_minor', NaN],
  ['order_totals', 'total_minor', Infinity],
  ['order_totals', 'vat_minor', 'none'],
  ['order_totals', 'subtotal_minor', 1e300],
  ['order_totals', 'subtotal_minor', 0.5],
  ['order_totals', 'currency', null],
  ['product_sales(limit: 1)', 'lines.0.qty', NaN],
  ['product_sales(limit: 1)', 'lines.0.qty', Infinity],
  ['product_sales(limit: 1)', 'lines.0.qty', 'many'],
  ['product_sales(limit: 1)', 'lines.0.discount_pct', -Infinity],
  ['product_sales(limit: 1)', 'lines.0.unit_price_minor', 1e300],
  ['product_sales(limit: 1)', 'lines.0.uom', NaN],
  ['product_sales(limit: 1)', 'lines.0.sku', Infinity],
  ['product_sales(limit: 1)', 'lines.0.sku', mongoose.mongo.Long.MAX_VALUE],
  ['product_sales(limit: 1)', 'lines.0.description', NaN],
  ['product_sales(limit: 1)', 'lines', { sku: 'A', uom: 'each', description: 'One', qty: NaN }],
])('%s of a period in which another program set %s to %p leave that order out, and say so', async (...row) => {
  const [totals, member, value] = row;
  const { caller, broken } = await withWritten({ [member]: value });
  const before = gateway.logs.length;
  const { body } = await caller.graphql(
    `{ ${totals} { data { currency ${totals === 'order_totals' ? 'count' : ''} } } }`,
  );
  expect(body.errors).toBeUndefined();
  expect(body.extensions).toEqual({ omitted: 1 });
  const [key] = Object.keys(body.data);
  if (totals === 'order_totals') expect(body.data[key!].data).toMatchObject([{ count: 2 }]);
  else expect(body.data[key!].data).toHaveLength(1);
  const named = gateway.logs.slice(before).find(({ id }) => id === broken);
  expect(named).toMatchObject({ collection: 'orders', pointer: `/${member.replaceAll('.', '/')}` });
});

test('sales beyond 2^53-1 are refused as out of range, whatever the product of a quantity and a price is', async () => {
  const organisation = await newOrganisation();
  const [order] = northwind('orders') as Json[];
  const lines = [{ ...order.lines[0], qty: 4.5e15, unit_price_minor: 2500 }];
  await store(gateway, organisation, { orders: [{ ...order, lines }] });
  expect(await refusal(GRAPHQL, await callerOf(gateway, organisation), 'product_sales')).toEqual({
    status: 400,
    code: 'invalid_request',
    errors: [{ parameter: 'from', code: 'range', detail: expect.stringContaining('gross_minor of a group exceeds') }],
  });
});

describe('-0, which Python and Go write for 0.0, is 0:', () => {
  /** Upserts a product whose zeros are written like this, and returns the outcome. */
  const CALLS: Record<string, (caller: Client, product: string) => Promise<string>> = {
    REST: async (caller, product) => {
      const { body } = await asWritten(product, () => caller.post('/products/bulk', { products: [WRITTEN_SO] }));
      return body.results[0].outcome;
    },
    GraphQL: async (caller, product) => {
      const document = 'mutation($p: [ProductUpsert!]!) { upsert_products(products: $p) { results { outcome } } }';
      const { body } = await asWritten(product, () => caller.graphql(document, { p: [WRITTEN_SO] }));
      return body.data.upsert_products.results[0].outcome;
    },
    'literals of GraphQL': async (caller, product) => {
      const literal = product.replaceAll(/"(\w+)":/g, '$1:').replaceAll('-0.0', '-0');
      const { body } = await caller.graphql(
        `mutation { upsert_products(products: [${literal}]) { results { outcome } } }`,
      );
      return body.data.upsert_products.results[0].outcome;
    },
    MCP: async (caller, product) => {
      const call = { name: 'upsert_products', arguments: { products: [WRITTEN_SO] } };
      const { body } = await asWritten(product, () => caller.mcp('tools/call', call));
      return JSON.parse(body.result.content[0].text).results[0].outcome;
    },
  };

  test.each(Object.entries(CALLS))('an unchanged object that has it changes nothing in %s', async (_face, upsert) => {
    const organisation = await newOrganisation();
    const caller = await callerOf(gateway, organisation);
    const product = (zero: string): string =>
      `{"sku": "FREE", "name": "Free", "unit_price_minor": ${zero}, "lead_time_days": ${zero}}`;
    const outcomes = [];
    for (const zero of ['-0.0', '-0.0', '0']) outcomes.push(await upsert(caller, product(zero)));
    expect(outcomes).toEqual(['created', 'unchanged', 'unchanged']);
    const data = gateway.databases.organisationData(organisation);
    expect(await data.collection(products).findOne({})).toMatchObject({ unit_price_minor: 0, lead_time_days: 0 });
  });
});

const WRITTEN_SO = '(as written)';

/** Calls with a JSON text in the place of a string, since JSON.stringify would write 0. */
async function asWritten(json: string, call: () => Promise<Answer>): Promise<Answer> {
  const { fetch } = globalThis;
  const spy = jest
    .spyOn(globalThis, 'fetch')
    .mockImplementation(async (url, init) =>
      fetch(url, { ...init, body: (init?.body as string).replace(`"${WRITTEN_SO}"`, json) }),
    );
  return call().finally(() => {
    spy.mockRestore();
  });
}

/*
 * A number is judged by its text: one with a fraction that a double does not hold is no whole number, although JSON.parse would make it one.
 * The document of the API has no fractions in bodies; imports have (qty).
 */

const made = late(async () => makeKey(gateway, await newOrganisation()));

const [WHOLE, BROKEN] = [
  ['1900', '1900.0', '19e2', '190000000000000000000000e-20', '-0.0', '9007199254740991'],
  [
    '1900.5',
    '900719925474099.96',
    '1.00000000000000000001',
    '1e-400',
    '4503599627370496.5',
    '19000000000000000000001e-19',
  ],
];

/** Sends a text as it is, and returns the answer. */
async function send(path: string, body: string, headers: Record<string, string> = {}, method = 'POST'): Promise<Json> {
  const common = { 'content-type': 'application/json', authorization: `Bearer ${made.key}`, ...headers };
  const response = await fetch(gateway.url + path, { method, headers: common, ...(method !== 'GET' && { body }) });
  return response.json();
}

let skus = 0;
const element = (price: string): string => `{"sku":"S-${String((skus += 1))}","name":"A","unit_price_minor":${price}}`;

test('REST: an element of a bulk call fails alone, at the place of the number', async () => {
  const { results } = await send(
    '/api/v1/products/bulk',
    `{"products":[${[...WHOLE, ...BROKEN].map(element).join()}]}`,
  );
  const found = (results as Json[]).map(({ outcome, errors }) => [outcome, errors]);
  expect(found.slice(0, WHOLE.length)).toEqual(WHOLE.map(() => ['created', []]));
  const fault = (at: number) => ({
    pointer: `/products/${String(WHOLE.length + at)}/unit_price_minor`,
    code: 'type',
    detail: 'must be an integer',
  });
  expect(found.slice(WHOLE.length)).toEqual(BROKEN.map((_, at) => ['failed', [fault(at)]]));
});

test.each(BROKEN)('REST, GraphQL and MCP refuse %s where an integer is wanted', async (number) => {
  const [{ id }] = (await client(gateway, made.key).get('/products', { limit: 1 })).body.data as [Json];
  const fault = { pointer: '/unit_price_minor', code: 'type', detail: 'must be an integer' };
  const patched = await send(`/api/v1/products/${String(id)}`, `{"unit_price_minor":${number}}`, {}, 'PATCH');
  expect(patched).toMatchObject({ status: 422, errors: [fault] });

  const MUTATION = 'mutation($id: ID!, $price: Minor) { update_product(id: $id, unit_price_minor: $price) { id } }';
  const variables = `{"id":"${String(id)}","price":${number}}`;
  const mutated = await send('/graphql', `{"query":${JSON.stringify(MUTATION)},"variables":${variables}}`);
  expect(mutated.errors[0].message).toContain('must be an integer');
  const literal = `mutation { update_product(id: "${String(id)}", unit_price_minor: ${number}) { id } }`;
  expect((await send('/graphql', JSON.stringify({ query: literal }))).errors).toHaveLength(1);
  const LISTED = 'query($limit: Int) { products(limit: $limit) { has_more } }';
  const search = new URLSearchParams({ query: LISTED, variables: `{"limit":${number}}` });
  const encoded = search.toString().replace('variables=', 'v%61riables=');
  for (const target of [search.toString(), encoded])
    expect((await send(`/graphql?${target}`, '', {}, 'GET')).errors[0].message).toContain('Int cannot');

  const meta =
    '{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}';
  const args = `{"id":"${String(id)}","unit_price_minor":${number}}`;
  const called = await send(
    '/mcp',
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"update_product","arguments":${args},"_meta":${meta}}}`,
    { 'mcp-protocol-version': STATELESS, 'mcp-method': 'tools/call', 'mcp-name': 'update_product' },
  );
  expect(JSON.parse(called.result.content[0].text as string)).toMatchObject({ errors: [fault] });
});

test('one that no double comes near is no text, id or boolean either', async () => {
  const [{ id }] = (await client(gateway, made.key).get('/products', { limit: 1 })).body.data as [Json];
  const members = '{"name":4503599627370496.5,"active":4503599627370496.5}';
  expect((await send(`/api/v1/products/${String(id)}`, members, {}, 'PATCH')).errors).toEqual([
    { pointer: '/name', code: 'type', detail: 'must be a string' },
    { pointer: '/active', code: 'type', detail: 'must be true or false' },
  ]);
  const query = '{"query":"query($id: ID!) { product(id: $id) { id } }","variables":{"id":4503599627370496.5}}';
  expect((await send('/graphql', query)).errors[0].message).toContain('ID cannot represent');
});

test('an import refuses it too, and takes it where a decimal is wanted', () => {
  const kind = recordKinds.find(({ file }) => file === 'orders')!;
  const read = recordReaders(recordKinds)(kind);
  const line = JSON.stringify(northwind('orders')[0]);
  expect(read({ text: line })).toHaveProperty('record');
  for (const number of BROKEN)
    expect(read({ text: line.replace(/"shipping_minor":\d+/, `"shipping_minor":${number}`) })).toMatchObject({
      faults: [{ pointer: '/shipping_minor', code: 'type', detail: 'must be an integer' }],
    });
  const decimal = read({ text: line.replace(/"qty":\d+/, '"qty":0.99999999999999999999') });
  expect((decimal as { record: Json }).record.lines[0].qty).toBe(1 - Number.EPSILON / 2);
});
