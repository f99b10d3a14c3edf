import mongoose from 'mongoose';
import type { Organisation } from '../../src/auth/principal';
import { orders } from '../../src/resources/orders/orders';
import { products } from '../../src/resources/products/products';
import type { Answer, Client, Json } from '../support/client';
import { ask, FACES, GRAPHQL, refusal } from '../support/faces';
import { callerOf, makeOrganisation, northwind, store } from '../support/factories';
import { late, served } from '../support/gateway';

/* Numbers written by JSON, clients or other programs: an answer that fails on one says where it is. */

const { Long } = mongoose.mongo;

const gateway = served();

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

const WRITTEN: [string, Json, string, string][] = [
  ['NaN as a quantity', { 'lines.1.qty': NaN }, '/lines/1/qty', 'NaN'],
  ['Infinity as a quantity', { 'lines.0.qty': Infinity }, '/lines/0/qty', 'Infinity'],
  ['an amount over 2^53', { total_minor: Long.fromString('9007199254740993') }, '/total_minor', '9007199254740993'],
  ['a fraction of a minor unit', { vat_minor: 1.5 }, '/vat_minor', '1.5'],
  ['a text as an amount', { shipping_minor: 'free' }, '/shipping_minor', 'a string'],
  ['null as an amount', { discount_minor: null }, '/discount_minor', 'null'],
  ['a position over 2^31', { 'lines.0.position': 2 ** 31 }, '/lines/0/position', '2147483648'],
];

describe.each(WRITTEN)('%s that another program wrote', (_title, members, pointer, shown) => {
  const scene = late(() => withWritten(members));
  test.each(FACES)(
    'fails what returns it with an error that names object and member, and nothing else, in $name',
    async (face) => {
      const { caller, broken, sound } = scene;
      const isOfLines = pointer.startsWith('/lines');
      const errors = [
        { pointer, code: 'range', detail: expect.stringContaining(`is stored as ${shown}, which is not `) },
      ];
      const expected = { status: 400, code: 'invalid_request', errors };
      expect(await refusal(face, caller, 'order', { id: broken })).toEqual(expected);
      if (!isOfLines) expect(await refusal(face, caller, 'orders', {})).toEqual(expected);
      expect(await ask(face, caller, 'order', { id: sound })).toMatchObject({ id: sound });
      expect((await ask(face, caller, 'orders', { limit: 1 })).data).toMatchObject([{ id: sound }]);
    },
  );

  test('is named with its object on pages with lines and in relations, too', async () => {
    const { caller, broken } = scene;
    const { status, body } = await caller.get('/orders', { include: 'lines' });
    expect([status, body.detail]).toEqual([
      400,
      expect.stringContaining(`The order ${broken} cannot be returned: ${pointer} `),
    ]);
    const rows = 'data { id lines { qty position } total_minor vat_minor shipping_minor discount_minor }';
    const related = await caller.graphql(`{ customers { data { orders { ${rows} } } } }`);
    expect(related.body.errors).toMatchObject([{ message: body.detail, extensions: { code: 'invalid_request' } }]);
  });
});

test.each<[string, string, unknown]>([
  ['order_totals', 'total_minor', NaN],
  ['order_totals', 'total_minor', Infinity],
  ['order_totals', 'vat_minor', 'none'],
  ['order_totals', 'subtotal_minor', 1e300],
  ['product_sales(limit: 1)', 'lines.0.qty', NaN],
  ['product_sales(limit: 1)', 'lines.0.qty', Infinity],
  ['product_sales(limit: 1)', 'lines.0.qty', 'many'],
  ['product_sales(limit: 1)', 'lines.0.discount_pct', -Infinity],
  ['product_sales(limit: 1)', 'lines.0.unit_price_minor', 1e300],
])('%s of a period in which another program set %s to %p is refused, and names object and member', async (...row) => {
  const [totals, member, value] = row;
  const { caller, broken } = await withWritten({ [member]: value });
  const pointer = `/${member.replaceAll('.', '/')}`;
  const { body } = await caller.graphql(`{ ${totals} { data { currency } } }`);
  expect(body.errors).toMatchObject([
    {
      message: expect.stringContaining(`The order ${broken} cannot be returned: ${pointer} `),
      extensions: { status: 400, code: 'invalid_request', errors: [{ pointer, code: 'range' }] },
    },
  ]);
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
    const row = await data.collection(products).findOne({});
    expect([row!.unit_price_minor, row!.lead_time_days]).toEqual([0, 0]);
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
