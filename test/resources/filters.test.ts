import type { ImportRecord } from '../../src/resources/common/records';
import { client, type Client, type Json } from '../support/client';
import { ask, askAll, type Arguments, FACES, GRAPHQL, query, refusal, REST } from '../support/faces';
import { makeKey, makeOrganisation, store } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';
import {
  expectedRows,
  type Filter,
  type ListName,
  type Records,
  RESOURCES,
  sortsOf,
  variedNorthwind,
} from '../support/resources';

/** Every third quote and order, to save time; still several pages and every status. */
const records = thinned(variedNorthwind());
let gateway: TestGateway;
let caller: Client;

beforeAll(async () => {
  gateway = await startGateway();
  const organisation = await makeOrganisation(gateway);
  await store(gateway, organisation, records);
  caller = client(gateway, (await makeKey(gateway, organisation)).key);
});
afterAll(() => gateway.stop());

function thinned({ quotes, orders, ...others }: Records): Records {
  const third = (rows: readonly ImportRecord[]) => rows.filter((row, at) => at % 3 === 0 || row.status === 'withdrawn');
  const mailed = others.customers.map((row, at) => ({
    ...row,
    email: at % 10 === 0 ? `buyer${String(at % 20)}@example.com` : null,
  }));
  return { ...others, customers: mailed, quotes: third(quotes), orders: third(orders) };
}

const customerId = String(records.quotes[0]!.customer_id);
const since = (list: ListName, member: string): string => {
  // the exact time of a row, to test the bound itself
  const values = records[list].map((record) => String(record[member])).sort();
  return values[Math.floor(values.length / 2)]!;
};

function equal(name: string, value: unknown): Filter {
  return { args: { [name]: value }, keeps: (row) => row[name] === value };
}

function oneOf(name: string, ...values: readonly string[]): Filter {
  return { args: { [name]: values }, keeps: (row) => values.includes(row[name]) };
}

function notBefore(list: ListName, member: string): Filter {
  const bound = since(list, member);
  return { args: { [member.replace('_at', '_since')]: bound }, keeps: (row) => row[member] >= bound };
}

function before(list: ListName, member: string): Filter {
  const bound = since(list, member);
  return { args: { [member.replace('_at', '_before')]: bound }, keeps: (row) => row[member] < bound };
}

/** A filter whose argument is written differently. */
function written(filter: Filter, args: Arguments): Filter {
  return { ...filter, args };
}

function both(one: Filter, other: Filter): Filter {
  return { args: { ...one.args, ...other.args }, keeps: (row) => one.keeps(row) && other.keeps(row) };
}

/** The middle half of the rows. */
function between(list: ListName, member: string): Filter {
  const values = records[list].map((record) => String(record[member])).sort();
  const [from, to] = [values[Math.floor(values.length / 4)]!, values[Math.floor((values.length * 3) / 4)]!];
  return {
    args: { [member.replace('_at', '_since')]: from, [member.replace('_at', '_before')]: to },
    keeps: (row) => row[member] >= from && row[member] < to,
  };
}

const byCustomer = equal('customer_id', customerId);
const oneUpdated = notBefore('products', 'updated_at');

const FILTERS: Partial<Record<string, readonly Filter[]>> = {
  products: [
    oneOf('sku', 'NW-017'),
    oneOf('sku', 'nw-017'),
    oneOf('sku', 'NW-001', 'NW-017', 'NW-017', 'NW-999'),
    oneOf('sku', "'; $where: 1"),
    equal('category', 'Beverages'),
    equal('category', 'Bev'),
    equal('active', true),
    equal('active', false),
    oneUpdated,
    before('products', 'updated_at'),
    written(oneUpdated, { updated_since: String(oneUpdated.args.updated_since).replace('.000Z', '-00:00') }),
    both(both(equal('category', 'Seafood'), equal('active', true)), oneUpdated),
  ],
  customers: [
    equal('external_ref', 'ALFKI'),
    equal('external_ref', 'alfki'),
    equal('email', 'buyer10@example.com'),
    equal('email', 'BUYER10@example.com'),
    equal('email', 'nobody@example.com'),
    notBefore('customers', 'updated_at'),
    before('customers', 'updated_at'),
    both(equal('external_ref', 'ALFKI'), notBefore('customers', 'updated_at')),
  ],
  quotes: [
    equal('number', records.quotes[1]!.number),
    equal('number', String(records.quotes[1]!.number).toLowerCase()),
    before('quotes', 'created_at'),
    before('quotes', 'updated_at'),
    between('quotes', 'created_at'),
    both(between('quotes', 'updated_at'), oneOf('status', 'accepted')),
    oneOf('status', 'accepted'),
    oneOf('status', 'withdrawn'),
    oneOf('status', 'declined', 'expired'),
    oneOf('status', 'sent', 'sent', 'draft'),
    byCustomer,
    written(byCustomer, { customer_id: customerId.toUpperCase() }),
    equal('customer_id', '8b0587c3-0000-4000-8000-000000000000'),
    notBefore('quotes', 'created_at'),
    notBefore('quotes', 'updated_at'),
    both(both(oneOf('status', 'accepted', 'declined'), byCustomer), notBefore('quotes', 'created_at')),
    both(notBefore('quotes', 'created_at'), notBefore('quotes', 'updated_at')),
  ],
  orders: [
    equal('number', records.orders[1]!.number),
    before('orders', 'placed_at'),
    before('orders', 'updated_at'),
    between('orders', 'placed_at'),
    ...['placed', 'confirmed', 'in_production', 'dispatched', 'delivered', 'completed', 'cancelled'].map((status) =>
      oneOf('status', status),
    ),
    oneOf('status', 'placed', 'dispatched', 'cancelled'),
    byCustomer,
    notBefore('orders', 'placed_at'),
    notBefore('orders', 'updated_at'),
    both(both(oneOf('status', 'placed', 'confirmed'), byCustomer), notBefore('orders', 'placed_at')),
  ],
  requests: [
    oneOf('status', 'open'),
    oneOf('status', 'answered', 'closed'),
    equal('customer_id', records.requests[1]!.customer_id),
    notBefore('requests', 'updated_at'),
    before('requests', 'updated_at'),
    both(oneOf('status', 'open', 'closed'), notBefore('requests', 'updated_at')),
  ],
};

const ids = (rows: readonly Json[]): string[] => rows.map((row) => row.id);

describe.each(FACES)('lists in $name', (face) => {
  describe.each(RESOURCES)('$list', (resource) => {
    const { list } = resource;
    const filters = FILTERS[list] ?? [notBefore(list, 'updated_at')];

    test.each(sortsOf(resource))('are sorted by %s, ties by id', async (sort) => {
      const rows = await askAll(face, caller, list, { sort });
      expect(ids(rows)).toEqual(ids(expectedRows(records[list], { sort })));
    });

    test.each(filters.map((filter) => [JSON.stringify(filter.args), filter] as const))(
      'filtered by %s have the matching rows, newest first',
      async (_title, { args, keeps }) => {
        const rows = await askAll(face, caller, list, { ...args, limit: 60 });
        expect(ids(rows)).toEqual(ids(expectedRows(records[list], { keeps })));
      },
    );

    test.each(sortsOf(resource))('can be filtered and sorted by %s', async (sort) => {
      const { args, keeps } = filters.at(-1)!;
      const rows = await askAll(face, caller, list, { ...args, sort, limit: 40 });
      expect(ids(rows)).toEqual(ids(expectedRows(records[list], { keeps, sort })));
    });

    test.each(['total_minor', 'id', '-', 'name ', '--created_at', ''])('reject the sort "%s"', async (sort) => {
      expect(await refusal(face, caller, list, { sort })).toMatchObject({
        status: 400,
        code: 'invalid_request',
        errors: [{ parameter: 'sort', code: 'not_allowed' }],
      });
    });
  });

  test.each<[ListName, string, unknown]>([
    ['products', 'sku', ''],
    ['products', 'category', ''],
    ['products', 'updated_since', ''],
    ['products', 'sort', ''],
    ['products', 'cursor', ''],
    ['customers', 'external_ref', ''],
    ['customers', 'updated_since', ''],
    ['quotes', 'customer_id', ''],
    ['quotes', 'created_since', ''],
    ['orders', 'customer_id', ''],
    ['orders', 'placed_since', ''],
    ['requests', 'customer_id', ''],
  ])('of %s reject an empty %s instead of listing everything', async (list, parameter, value) => {
    const problem = await refusal(face, caller, list, { [parameter]: value });
    expect(problem).toMatchObject({ status: 400, code: 'invalid_request' });
    // GraphQL itself rejects an invalid date, with its own message
    if (!(parameter.endsWith('_since') && face === GRAPHQL)) expect(problem).toMatchObject({ errors: [{ parameter }] });
  });

  test('reject an empty value for every filter', async () => {
    const filters = await filtersOf();
    expect(filters.length).toBeGreaterThan(15);
    for (const { list, name, isEnum, isList } of filters) {
      // GraphQL itself rejects an empty enum value, and REST has no empty lists
      const value = isList && face === GRAPHQL ? [] : isList ? [''] : '';
      if (isEnum && !isList && face === GRAPHQL) continue;
      const { status, code, errors } = await refusal(face, caller, list, { [name]: value });
      expect({ list, name, status, code }).toEqual({ list, name, status: 400, code: 'invalid_request' });
      if (errors) expect(errors).toEqual([expect.objectContaining({ parameter: name })]);
    }
  });

  test.each(RESOURCES)('of $list treat an empty q as omitted, even with a cursor', async ({ list }) => {
    const plain = await ask(face, caller, list, { limit: 3 });
    const page = await ask(face, caller, list, { q: '', limit: 3 });
    expect(page).toEqual(plain);
    const next = await ask(face, caller, list, { limit: 3, cursor: page.next_cursor });
    expect(next).toEqual(await ask(face, caller, list, { q: '', limit: 3, cursor: plain.next_cursor }));
  });

  test.each(RESOURCES)('of $list find nothing for a q without a letter or digit', async ({ list }) => {
    for (const q of [' ', '-', '…/&', '\u{1f600}']) {
      expect(await ask(face, caller, list, { q })).toEqual({ data: [], has_more: false, next_cursor: null });
    }
    const { next_cursor: cursor } = await ask(face, caller, list, { limit: 1 });
    expect(await refusal(face, caller, list, { q: '-', cursor })).toMatchObject({ errors: [{ parameter: 'cursor' }] });
    expect(await refusal(face, caller, list, { q: '-', limit: 0 })).toMatchObject({ errors: [{ parameter: 'limit' }] });
  });

  test('measure the length of a sku after NFC normalisation', async () => {
    // two characters as sent, one after normalisation
    expect(await ask(face, caller, 'products', { sku: 'e\u0301'.repeat(64) })).toMatchObject({ data: [] });
    expect(await refusal(face, caller, 'products', { sku: 'e\u0301'.repeat(65) })).toMatchObject({
      errors: [{ parameter: 'sku', code: 'length' }],
    });
  });

  test('compare dates with fractions of a millisecond correctly, although rows have none', async () => {
    const bound = since('quotes', 'created_at');
    const finer = bound.replace('Z', '0001Z');
    const at = (await askAll(face, caller, 'quotes', { created_since: bound })).filter(
      (row) => row.created_at === bound,
    ).length;
    const count = async (args: Arguments): Promise<number> => (await askAll(face, caller, 'quotes', args)).length;
    expect(at).toBeGreaterThan(0);
    expect(await count({ created_since: finer })).toBe((await count({ created_since: bound })) - at);
    expect(await count({ created_before: finer })).toBe((await count({ created_before: bound })) + at);
  });

  test('accept 20 values of a filter and reject 21', async () => {
    const status = new Array<string>(20).fill('sent');
    const expected = ids(expectedRows(records.quotes, oneOf('status', 'sent')));
    expect(ids(await askAll(face, caller, 'quotes', { status }))).toEqual(expected);
    expect(await refusal(face, caller, 'quotes', { status: [...status, 'draft'] })).toMatchObject({
      status: 400,
      code: 'invalid_request',
      errors: [{ parameter: 'status' }],
    });
  });

  test.each([
    ['customer_id that is not a UUID', 'quotes', { customer_id: 'VINET' }],
    ['status that does not exist', 'quotes', { status: ['lost'] }],
    ['date in words', 'quotes', { created_since: 'yesterday' }],
    ['day that does not exist', 'orders', { placed_since: '1997-02-30T00:00:00Z' }],
    ['year without a date', 'products', { updated_since: '1997' }],
    ['date after the year 9999', 'quotes', { created_since: '9999-12-31T23:59:59-12:00' }],
    ['date before the year 1', 'orders', { placed_since: '0001-01-01T00:00:00+12:00' }],
    ['sku that is too long', 'products', { sku: 'x'.repeat(65) }],
    ['search of 201 characters', 'customers', { q: 'x'.repeat(201) }],
  ])('reject a %s with 400', async (_title, list, args) => {
    expect(await refusal(face, caller, list, args)).toMatchObject({ status: 400, code: 'invalid_request' });
  });
});

describe('arguments specific to one API:', () => {
  test.each(RESOURCES)('a null argument of $list means its default in GraphQL', async ({ list }) => {
    const field = await query(caller, `{ __type(name: "Query") { fields { name args { name } } } }`);
    const { args } = field.__type.fields.find(({ name }: Json) => name === list);
    const nulls = Object.fromEntries(args.map(({ name }: Json) => [name, null]));
    expect(Object.keys(nulls)).toEqual(expect.arrayContaining(['q', 'sort', 'limit', 'cursor', 'updated_since']));
    expect(await ask(GRAPHQL, caller, list, nulls)).toEqual(await ask(GRAPHQL, caller, list));
  });

  test.each(RESOURCES)('an empty q of $list is ignored in REST, with and without =', async ({ list }) => {
    const plain = await ask(REST, caller, list);
    expect((await caller.get(`/${list}?q=`)).body).toEqual(plain);
    expect((await caller.get(`/${list}?q`)).body).toEqual(plain);
    expect((await caller.get(`/${list}?updated_since`)).status).toBe(400);
  });

  test('a nested list rejects an empty cursor', async () => {
    const document = `{ customers(limit: 1) { data { quotes(cursor: "") { has_more } } } }`;
    const { body } = await caller.graphql(document);
    expect(body.errors[0].extensions).toMatchObject({ status: 400, errors: [{ parameter: 'cursor' }] });
  });
});

interface ListFilter {
  readonly list: string;
  readonly name: string;
  readonly isEnum: boolean;
  readonly isList: boolean;
}

/** The list arguments that filter by text, id, date or enum. */
async function filtersOf(): Promise<ListFilter[]> {
  const type = 'type { kind name ofType { kind name ofType { kind name } } }';
  const schema = await query(caller, `{ __type(name: "Query") { fields { name args { name ${type} } } } }`);
  return RESOURCES.flatMap(({ list }) => {
    const { args } = schema.__type.fields.find(({ name }: Json) => name === list);
    return args
      .filter(({ name, type: { name: scalar } }: Json) => !['q', 'limit'].includes(name) && scalar !== 'Boolean')
      .map(({ name, type: { kind } }: Json) => ({ list, name, isEnum: kind === 'ENUM', isList: kind === 'LIST' }));
  });
}
