import { randomUUID } from 'node:crypto';
import type { Client, Json } from '../../support/client';
import { commandsOf, startWatchedGateway } from '../../support/commands';
import { type Arguments, ask, GRAPHQL, refusal } from '../../support/faces';
import { callerOf, makeNorthwind, makeStored, northwind } from '../../support/factories';
import { late, servedBy } from '../../support/gateway';
import { grow } from '../../support/grown';

const orders = northwind('orders') as Json[];
const quotes = northwind('quotes') as Json[];

const gateway = servedBy(startWatchedGateway);
const organisation = late(async () => {
  const made = await makeNorthwind(gateway);
  await grow(gateway.databases.organisationData(made).database);
  return made;
});
const caller = late(() => callerOf(gateway, organisation));

/** A caller of a new organisation with only these rows. */
async function callerWith(records: { orders?: Json[]; quotes?: Json[] }): Promise<Client> {
  return callerOf(gateway, makeStored(gateway, records));
}

/** Northwind's first order with some members changed, and a new id and number. */
function orderWith(changes: Json): Json {
  return { ...orders[0], id: randomUUID(), number: randomUUID(), ...changes };
}

const AMOUNTS = ['subtotal_minor', 'discount_minor', 'vat_minor', 'total_minor'];

const KEYS: Record<string, (row: Json, at: string) => [string, unknown]> = {
  MONTH: (row, at) => ['month', row[at].slice(0, 7)],
  STATUS: (row) => ['status', row.status],
  CUSTOMER: (row) => ['customer_id', row.customer_id],
  CURRENCY: (row) => ['currency', row.currency],
};

function expectedTotals(rows: Json[], at: string, groupBy: readonly string[], amounts: readonly string[]): Json[] {
  const groups = new Map<string, { names: Json; sums: Record<string, number> }>();
  for (const row of rows) {
    const keys = Object.fromEntries(groupBy.map((by) => KEYS[by]!(row, at)));
    const names: Json = { currency: row.currency, status: null, month: null, customer_id: null, ...keys };
    const id = JSON.stringify(['month', 'status', 'customer_id', 'currency'].map((name) => names[name] ?? ''));
    const sums: Record<string, number> = groups.get(id)?.sums ?? {};
    for (const name of amounts) sums[name] = (sums[name] ?? 0) + Number(row[name]);
    sums.count = (sums.count ?? 0) + 1;
    groups.set(id, { names, sums });
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { names, sums }]) => ({ ...names, ...sums }));
}

test("Northwind's orders sum to 1,354,458.59 USD gross and 1,265,792.76 net of discounts", async () => {
  const { data, has_more } = await ask(GRAPHQL, caller, 'order_totals', { group_by: [] });
  expect({ rows: data.length, has_more }).toEqual({ rows: 1, has_more: false });
  const [all] = data;
  expect(all).toMatchObject({ currency: 'USD', count: 830, status: null, month: null, customer_id: null });
  expect(all.subtotal_minor).toBe(135_445_859);
  expect(all.subtotal_minor - all.discount_minor).toBe(126_579_276);
  expect(all.total_minor - all.vat_minor - all.shipping_minor).toBe(126_579_276);
});

const GROUPINGS = [
  [],
  ['CURRENCY'],
  ['STATUS'],
  ['MONTH'],
  ['CUSTOMER'],
  ['MONTH', 'STATUS', 'CURRENCY'],
  ['STATUS', 'STATUS'],
];

test.each(GROUPINGS.map((groupBy) => ({ groupBy })))('totals by $groupBy match the rows', async ({ groupBy }) => {
  const args = { group_by: groupBy };
  expect(await ask(GRAPHQL, caller, 'quote_totals', args)).toEqual({
    data: expectedTotals(quotes, 'created_at', groupBy, AMOUNTS),
    has_more: false,
  });
  expect(await ask(GRAPHQL, caller, 'order_totals', args)).toEqual({
    data: expectedTotals(orders, 'placed_at', groupBy, [...AMOUNTS, 'shipping_minor']),
    has_more: false,
  });
});

test('totals of a customer, or in a currency, are those of the rows', async () => {
  const customer_id = String(orders[0]!.customer_id);
  const theirs = orders.filter((row) => row.customer_id === customer_id);
  let sum = 0;
  for (const { total_minor } of theirs) sum += Number(total_minor);
  const totals = (args: Json): Promise<Json> => ask(GRAPHQL, caller, 'order_totals', args);
  for (const args of [{ customer_id }, { customer_id: customer_id.toUpperCase(), currency: 'USD' }])
    expect((await totals(args)).data).toMatchObject([{ count: theirs.length, total_minor: sum, currency: 'USD' }]);
  expect((await totals({ customer_id, currency: 'EUR' })).data).toEqual([]);
  expect((await ask(GRAPHQL, caller, 'quote_totals', { customer_id: crypto.randomUUID() })).data).toEqual([]);
  for (const wrong of [{ customer_id: 'ALFKI' }, { customer_id: '' }, { currency: 'usd' }])
    expect(await refusal(GRAPHQL, caller, 'order_totals', wrong)).toMatchObject({
      status: 400,
      errors: [{ parameter: Object.keys(wrong)[0] }],
    });
});

test('totals of some statuses, in an order and up to a limit, are those of the rows', async () => {
  const status = ['completed', 'dispatched'];
  const rows = orders.filter((row) => status.includes(row.status as string));
  const all = expectedTotals(rows, 'placed_at', ['CUSTOMER'], [...AMOUNTS, 'shipping_minor']);
  for (const member of ['count', 'total_minor']) {
    const sorted = all.toSorted((a, b) => b[member] - a[member] || (a.customer_id < b.customer_id ? -1 : 1));
    const args = { group_by: ['CUSTOMER'], status, sort: `-${member}`, limit: 5 };
    expect(await ask(GRAPHQL, caller, 'order_totals', args)).toEqual({ data: sorted.slice(0, 5), has_more: true });
  }
  const [sale] = (await ask(GRAPHQL, caller, 'product_sales', { status: ['placed'], limit: 1 })).data;
  const placed = orders.filter((row) => row.status === 'placed').flatMap((row) => row.lines as Json[]);
  expect(sale?.line_count).toBe(sale && placed.filter(({ sku }) => sku === sale.sku).length);
});

test('totals by customer name the customer, to keys that may read customers', async () => {
  const document = '{ order_totals(group_by: [CUSTOMER], limit: 3) { data { customer_id customer { id name } } } }';
  const { body } = await caller.graphql(document);
  for (const { customer_id: id, customer } of body.data.order_totals.data)
    expect(customer).toEqual({ id, name: expect.any(String) });
  const clerk = await callerOf(gateway, organisation, { scopes: ['orders:read'] });
  const refused = (await clerk.graphql(document)).body;
  expect(refused.errors).toMatchObject([
    { extensions: { code: 'insufficient_scope', required_scope: 'customers:read' } },
  ]);
  expect(refused.data.order_totals.data[0]).toMatchObject({ customer_id: expect.any(String), customer: null });
});

test('a period includes its start and excludes its end, whatever their UTC offsets', async () => {
  const [from, to] = [orders[100]!.placed_at as string, orders[300]!.placed_at as string];
  const within = orders.filter((row) => row.placed_at >= from && row.placed_at < to);
  const [total] = (await ask(GRAPHQL, caller, 'order_totals', { from, to })).data;
  expect(total.count).toBe(within.length);
  const shifted = from.replace('T00:00:00.000Z', 'T02:00:00+02:00');
  expect(shifted).not.toBe(from);
  expect((await ask(GRAPHQL, caller, 'order_totals', { from: shifted, to })).data).toEqual([total]);
  expect((await ask(GRAPHQL, caller, 'order_totals', { from: to, to })).data).toEqual([]);
});

test('currencies and units of measure are never mixed', async () => {
  const two = await callerWith({
    orders: [orderWith({ currency: 'USD' }), orderWith({ currency: 'EUR' }), orderWith({ currency: 'EUR' })],
  });
  const { data } = await ask(GRAPHQL, two, 'order_totals', { group_by: ['STATUS'] });
  expect(data.map(({ currency, count }: Json) => [currency, count])).toEqual([
    ['EUR', 2],
    ['USD', 1],
  ]);
  const [line] = orders[0]!.lines;
  const lines = [
    { ...line, qty: 1.1, uom: 'kg' },
    { ...line, position: 1, qty: 2.2, uom: 'kg' },
    { ...line, position: 2, uom: 'box' },
  ];
  const units = await callerWith({ orders: [orderWith({ lines })] });
  const sales = (await ask(GRAPHQL, units, 'product_sales')).data;
  expect(sales.map(({ uom, qty, line_count: count }: Json) => [uom, qty, count])).toEqual([
    ['box', 12, 1],
    ['kg', 3.3, 2],
  ]);
});

test('sums are exact up to 2^53-1 and an error above, never rounded', async () => {
  const most = Number.MAX_SAFE_INTEGER;
  const amounts = (subtotal: number): Json =>
    orderWith({ subtotal_minor: subtotal, total_minor: subtotal, shipping_minor: 0, lines: [] });
  const exact = await callerWith({ orders: [amounts(most - 2), amounts(1), amounts(1)] });
  expect((await ask(GRAPHQL, exact, 'order_totals')).data[0].total_minor).toBe(most);
  const beyond = await callerWith({ orders: [amounts(most), amounts(most), amounts(1)] });
  expect(await refusal(GRAPHQL, beyond, 'order_totals')).toMatchObject({
    code: 'invalid_request',
    errors: [{ parameter: 'from', code: 'range', detail: expect.stringContaining('2^53-1') }],
  });
});

test('sales by product add up to the orders, best seller first', async () => {
  const { data, has_more } = await ask(GRAPHQL, caller, 'product_sales', { limit: 100 });
  expect(has_more).toBe(false);
  const sum = (rows: Json[], member: string) => rows.reduce<number>((all, row) => all + Number(row[member]), 0);
  const lines = orders.flatMap((order) => order.lines as Json[]);
  expect([sum(data, 'qty'), sum(data, 'line_count')]).toEqual([sum(lines, 'qty'), lines.length]);
  expect([sum(data, 'gross_minor'), sum(data, 'net_minor')]).toEqual([135_445_859, 126_579_276]);
  expect(data).toEqual(data.toSorted((a: Json, b: Json) => b.net_minor - a.net_minor || (a.sku < b.sku ? -1 : 1)));
  const [{ sku, ...best }] = data;
  const own = lines.filter((line) => line.sku === sku);
  expect(best).toMatchObject({ qty: sum(own, 'qty'), line_count: own.length, uom: own[0].uom, currency: 'USD' });
  const from = '1998-05-01T00:00:00Z';
  const lately = (await ask(GRAPHQL, caller, 'product_sales', { from, limit: 100 })).data;
  expect([lately.length > 20, lately.length < 100]).toEqual([true, true]);
  expect((await ask(GRAPHQL, caller, 'product_sales', { from, limit: 3 })).data).toEqual(lately.slice(0, 3));
  expect((await ask(GRAPHQL, caller, 'product_sales', { from })).data).toEqual(lately.slice(0, 20));
});

test('sales exclude cancelled orders and lines without a product, and are limited per currency', async () => {
  const [line] = orders[0]!.lines;
  const withLines = (changes: Json, ...skus: (string | null)[]): Json =>
    orderWith({ ...changes, lines: skus.map((sku, position) => ({ ...line, sku, position, qty: 10 - position })) });
  const own = await callerWith({
    orders: [
      withLines({ status: 'cancelled' }, 'A', 'B'),
      withLines({ currency: 'EUR' }, 'A', null, 'B'),
      withLines({ currency: 'USD' }, 'C', 'D'),
    ],
  });
  const { data } = await ask(GRAPHQL, own, 'product_sales', { limit: 1 });
  expect(data.map(({ currency, sku, qty }: Json) => [currency, sku, qty])).toEqual([
    ['EUR', 'A', 10],
    ['USD', 'C', 10],
  ]);
});

test.each([
  ['order_totals', { group_by: ['STATUS', 'MONTH', 'CUSTOMER', 'CURRENCY', 'STATUS'] }, 'group_by'],
  ['quote_totals', { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, 'to'],
])('%s with %j gets 400', async (name, args, parameter) => {
  expect(await refusal(GRAPHQL, caller, name, args)).toMatchObject({
    code: 'invalid_request',
    status: 400,
    errors: [{ parameter }],
  });
});

test('more than 1,000 groups are cut off, with has_more', async () => {
  const many = await callerWith({
    orders: Array.from({ length: 1001 }, () => orderWith({ customer_id: randomUUID(), lines: [] })),
  });
  const { data, has_more } = await ask(GRAPHQL, many, 'order_totals', { group_by: ['CUSTOMER'] });
  expect({ groups: data.length, has_more }).toEqual({ groups: 1000, has_more: true });
});

describe('the database', () => {
  async function plansOf(name: string, args: Arguments): Promise<string> {
    const sent = await commandsOf(gateway, organisation, () => ask(GRAPHQL, caller, name, args));
    expect(sent.map((one) => one.name)).toEqual(['aggregate']);
    const { aggregate, pipeline } = sent[0]!.command;
    const { database } = gateway.databases.organisationData(organisation);
    return JSON.stringify(
      await database.command({ explain: { aggregate, pipeline, cursor: {} }, verbosity: 'queryPlanner' }),
    );
  }

  test.each(['quote_totals', 'order_totals', 'product_sales'])(
    'runs one indexed query for %s, with and without a period',
    async (name) => {
      for (const span of [{}, { from: '1997-01-01T00:00:00Z', to: '1997-02-01T00:00:00Z' }]) {
        const plan = await plansOf(name, span);
        expect(plan).toContain('IXSCAN');
        expect(plan).not.toContain('COLLSCAN');
      }
    },
  );
});

test('an open period ends with the year 9999, after which no month is written, whatever another program stored', async () => {
  const sent = await commandsOf(gateway, organisation, () => ask(GRAPHQL, caller, 'order_totals', {}));
  const [{ $match: period }] = sent[0]!.command.pipeline;
  expect(period.placed_at).toMatchObject({ $lte: new Date('9999-12-31T23:59:59.999Z') });
});
