import mongoose from 'mongoose';
import type { Organisation } from '../../../src/auth/principal';
import { resourceOf } from '../../../src/resources';
import type { Answer, Client, Json } from '../../support/client';
import { ask, FACES, GRAPHQL, refusal } from '../../support/faces';
import { callerOf, makeOrganisation, northwind, store } from '../../support/factories';
import { late, served } from '../../support/gateway';

const orders = resourceOf('orders');
const products = resourceOf('products');

/* Numbers written by JSON, clients or other programs: one that cannot be served fails its own object alone. */

const { Long } = mongoose.mongo;

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

const WRITTEN: [string, Json, string, string][] = [
  ['NaN as a quantity', { 'lines.1.qty': NaN }, '/lines/1/qty', 'NaN'],
  ['Infinity as a quantity', { 'lines.0.qty': Infinity }, '/lines/0/qty', 'Infinity'],
  ['an amount over 2^53', { total_minor: Long.fromString('9007199254740993') }, '/total_minor', '9007199254740993'],
  ['a fraction of a minor unit', { vat_minor: 1.5 }, '/vat_minor', '1.5'],
  ['a text as an amount', { shipping_minor: 'free' }, '/shipping_minor', 'free'],
  ['null as an amount', { discount_minor: null }, '/discount_minor', 'null'],
  ['a position over 2^31', { 'lines.0.position': 2 ** 31 }, '/lines/0/position', '2147483648'],
];

describe.each(WRITTEN)('%s that another program wrote', (_title, members, pointer, shown) => {
  const scene = late(() => withWritten(members));
  test.each(FACES)(
    'fails a read of its object with an error that names object and member, and nothing else, in $name',
    async (face) => {
      const { caller, broken, sound } = scene;
      const detail = expect.stringMatching(shown === 'null' ? /^is stored as null$/ : shownAs(shown));
      expect(await refusal(face, caller, 'order', { id: broken })).toEqual({
        status: 500,
        code: 'stored_object_invalid',
        errors: [{ pointer, code: expect.stringMatching(/^(range|required)$/), detail }],
      });
      expect(await ask(face, caller, 'order', { id: sound })).toMatchObject({ id: sound });
      const isLeftOut = !pointer.startsWith('/lines');
      expect((await ask(face, caller, 'orders', {})).data).toHaveLength(isLeftOut ? 2 : 3);
    },
  );

  test('leaves its object out of pages with lines and of relations, too', async () => {
    const { caller, broken } = scene;
    const { status, body, headers } = await caller.get('/orders', { include: 'lines' });
    expect([status, body.data.length, headers.get('scopegate-omitted')]).toEqual([200, 2, '1']);
    const rows = 'data { id lines { qty position } total_minor vat_minor shipping_minor discount_minor }';
    const related = await caller.graphql(`{ customers { data { orders { ${rows} } } } }`);
    expect(related.body).toMatchObject({ extensions: { omitted: 1 } });
    const ids = related.body.data.customers.data[0].orders.data.map(({ id }: Json) => id);
    expect([ids.length, ids.includes(broken)]).toEqual([2, false]);
  });
});

const shownAs = (shown: string): RegExp => new RegExp(`^is stored as (\\w+ )?"?${shown}"?, which is not `);

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
