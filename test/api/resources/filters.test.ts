import type { ImportRecord } from '../../../src/stored/records';
import type { Json } from '../../support/client';
import { ask, askAll, type Face, FACES, GRAPHQL, refusal, REST } from '../../support/faces';
import { callerOf, makeStored } from '../../support/factories';
import {
  allBut,
  argumentsOf,
  equal,
  filterBy,
  filtersOf,
  oneOf,
  pairsOf,
  valueIn,
  written,
} from '../../support/filters';
import { late, served } from '../../support/gateway';
import {
  expectedRows,
  fewer,
  type Filter,
  type ListName,
  type Records,
  RESOURCES,
  sortsOf,
  variedNorthwind,
} from '../../support/resources';

const MAILED = {
  id: 'c0ffee00-0000-4000-8000-000000000000',
  name: 'Ann',
  role: 'Mailed',
  email: 'ann@mill.example',
  phone: null,
  primary: false,
};

const records = withMoreTimes(fewer(variedNorthwind()));

const gateway = served();
const caller = late(() => callerOf(gateway, makeStored(gateway, records)));

function withMoreTimes({ quotes, orders, requests, ...others }: Records): Records {
  const mailed = others.customers.map((row, at) => ({
    ...row,
    email: at % 10 === 0 ? `buyer${String(at % 20)}@example.com` : null,
    ...(at % 9 === 0 && { contacts: [...(row.contacts as Json[]), MAILED] }),
  }));
  // some were created long before they were changed or placed, so that rows by one time are not rows by another
  const early = (row: ImportRecord, at: number) =>
    at % 3 === 0 ? { ...row, created_at: '1995-05-01T00:00:00.000Z' } : row;
  const referred = (letter: string, row: ImportRecord, at: number) =>
    at % 2 === 0 ? { ...row, external_ref: `${letter}-${String(at)}` } : row;
  return {
    ...others,
    products: others.products.map((row, at) => referred('P', at === 5 ? { ...row, sku: 'CAF\u00c9' } : row, at)),
    customers: mailed,
    requests: requests.map((row, at) => referred('T', row, at)),
    quotes: quotes.map((row, at) => referred('Q', early(row, at), at)),
    orders: orders.map((row, at) => referred('O', early(row, at), at)),
  };
}

const customerId = String(records.quotes[0]!.customer_id);
const updatedSince = (list: ListName, bound = valueIn(records[list], 'updated_at', 0.2)): Filter =>
  filterBy(
    argumentsOf(list).find(({ name }) => name === 'updated_since')!,
    bound,
  );
const updated = valueIn(records.products, 'updated_at');

/** Values that rows do not have, or that are written in another way; those of rows are tried for every argument. */
const FILTERS: Partial<Record<string, readonly Filter[]>> = {
  products: [
    oneOf('sku', 'nw-017'),
    oneOf('sku', 'NW-001', 'NW-017', 'NW-017', 'NW-999'),
    oneOf('sku', "'; $where: 1"),
    written(oneOf('sku', 'CAF\u00c9'), { sku: ['CAFE\u0301'] }),
    equal('category', 'Bev'),
    written(updatedSince('products', updated), { updated_since: updated.replace('.000Z', '-00:00') }),
  ],
  customers: [
    equal('external_ref', 'alfki'),
    written(equal('email', 'buyer10@example.com'), { email: 'BUYER10@Example.com' }),
    equal('email', '10@example.com'),
    equal('email', '@'),
    { args: { email: 'ANN@mill.example' }, keeps: (row) => row.contacts.some(({ role }: Json) => role === 'Mailed') },
  ],
  requests: [oneOf('id', '8b0587c3-0000-4000-8000-000000000000')],
  quotes: [
    equal('number', String(records.quotes[1]!.number).toLowerCase()),
    oneOf('status', 'sent', 'sent', 'draft'),
    written(equal('customer_id', customerId), { customer_id: customerId.toUpperCase() }),
    equal('customer_id', '8b0587c3-0000-4000-8000-000000000000'),
  ],
  orders: [oneOf('status', 'placed', 'dispatched', 'cancelled')],
};

/** One API after the other, the first of them by the number. */
const taking = (turn: number): Face => FACES[turn % FACES.length]!;
const ids = (rows: readonly Json[]): string[] => rows.map((row) => row.id);

describe.each(RESOURCES.map((resource, turn) => ({ ...resource, turn })))(
  'the list of $list',
  ({ turn, ...resource }) => {
    const { list } = resource;
    const rows = records[list];
    const filters = [...filtersOf(list, rows), ...(FILTERS[list] ?? [])];

    async function hasRows(
      face: Face,
      { args, keeps }: Filter,
      more: { sort?: string; limit?: number } = {},
    ): Promise<void> {
      const found = await askAll(face, caller, list, { ...args, ...more });
      const expected = expectedRows(rows, { keeps, ...(more.sort !== undefined && { sort: more.sort }) });
      expect({ face: face.name, args, ids: ids(found) }).toEqual({ face: face.name, args, ids: ids(expected) });
    }

    test.each(filters.map((filter) => [JSON.stringify(filter.args), filter] as const))(
      'filtered by %s has the matching rows, newest first',
      async (_title, filter) => {
        for (const face of FACES) await hasRows(face, filter, { limit: 40 });
      },
    );

    test('filtered by any two arguments, or by all, has the rows that match each', async () => {
      for (const [at, pair] of [...pairsOf(list, rows), ...allBut(list, rows)].entries())
        await hasRows(taking(turn + at), pair);
    });

    test.each(sortsOf(resource).filter((sort) => !sort.startsWith('-')))(
      'is sorted by %s in both directions, ties by id, with and without a filter',
      async (member) => {
        const filter = updatedSince(list);
        for (const [at, sort] of [member, `-${member}`].entries()) {
          await hasRows(taking(turn + at), { args: {}, keeps: () => true }, { sort, limit: 40 });
          await hasRows(taking(turn + at + 1), filter, { sort, limit: 40 });
        }
      },
    );

    test('treats an empty q as omitted, even with a cursor', async () => {
      for (const face of FACES) {
        const plain = await ask(face, caller, list, { limit: 3 });
        expect(await ask(face, caller, list, { q: '', limit: 3 })).toEqual(plain);
      }
      const [face, other] = [taking(turn), taking(turn + 1)];
      const { next_cursor: cursor } = await ask(face, caller, list, { q: '', limit: 3 });
      const next = await ask(other, caller, list, { limit: 3, cursor });
      expect(next).toEqual(await ask(other, caller, list, { q: '', limit: 3, cursor }));
    });

    test('finds nothing for a q without a letter or digit', async () => {
      const face = taking(turn);
      for (const [at, q] of [' ', '-', '…/&', '\u{1f600}'].entries()) {
        const page = await ask(taking(turn + at), caller, list, { q });
        expect(page).toEqual({ data: [], has_more: false, next_cursor: null });
      }
      const { next_cursor: cursor } = await ask(face, caller, list, { limit: 1 });
      expect(await refusal(face, caller, list, { q: '-', cursor })).toMatchObject({
        errors: [{ parameter: 'cursor' }],
      });
      expect(await refusal(face, caller, list, { q: '-', limit: 0 })).toMatchObject({
        errors: [{ parameter: 'limit' }],
      });
    });

    test('takes null for its defaults in GraphQL', async () => {
      const args = ['sort', 'limit', 'cursor', 'q', ...argumentsOf(list).map(({ name }) => name)];
      const nulls = Object.fromEntries(args.map((name) => [name, null]));
      expect(await ask(GRAPHQL, caller, list, nulls)).toEqual(await ask(GRAPHQL, caller, list));
    });
  },
);

const OF_GRAPHQL = ['DateTime', 'Date', 'Minor', 'Int', 'Float'];

describe('lists in both APIs', () => {
  test.each(RESOURCES)(
    'of $list reject an empty value of every argument, instead of listing everything',
    async ({ list }) => {
      const others = ['sort', 'cursor'].map((name) => ({ name, type: 'String', isList: false }));
      for (const { name, type, isList } of [...argumentsOf(list), ...others]) {
        for (const face of FACES) {
          // GraphQL itself rejects non-Booleans, and REST has no empty lists
          if (type === 'Boolean') continue;
          const value = isList && face === GRAPHQL ? [] : isList ? [''] : '';
          const { status, code, errors } = await refusal(face, caller, list, { [name]: value });
          // GraphQL itself rejects an invalid date or amount, with its own message
          const parameter = OF_GRAPHQL.includes(type) && face === GRAPHQL ? undefined : name;
          const found = { name, status, code, parameter: errors?.[0].parameter };
          expect(found).toEqual({ name, status: 400, code: 'invalid_request', parameter });
        }
      }
    },
  );

  test('compare dates with fractions of a millisecond correctly, although rows have none', async () => {
    const bound = valueIn(records.quotes, 'created_at');
    const finer = bound.replace('Z', '0001Z');
    const count = (keeps: Filter['keeps']): number => records.quotes.filter(keeps).length;
    for (const face of FACES) {
      const after = await askAll(face, caller, 'quotes', { created_since: finer });
      expect(after).toHaveLength(count((row) => row.created_at > bound));
      const until = await askAll(face, caller, 'quotes', { created_before: finer });
      expect(until).toHaveLength(count((row) => row.created_at <= bound));
    }
  });

  test('accept 20 values of a filter and reject 21', async () => {
    const status = new Array<string>(20).fill('sent');
    const expected = ids(expectedRows(records.quotes, oneOf('status', 'sent')));
    for (const face of FACES) {
      expect(ids(await askAll(face, caller, 'quotes', { status }))).toEqual(expected);
      expect(await refusal(face, caller, 'quotes', { status: [...status, 'draft'] })).toMatchObject({
        status: 400,
        code: 'invalid_request',
        errors: [{ parameter: 'status' }],
      });
    }
  });
});

describe('arguments specific to one API:', () => {
  test('an empty q without = is ignored in REST, and an empty date is not', async () => {
    expect((await caller.get('/products?q')).body).toEqual(await ask(REST, caller, 'products'));
    expect((await caller.get('/products?updated_since')).status).toBe(400);
  });

  test('a nested list rejects an empty cursor', async () => {
    const document = `{ customers(limit: 1) { data { quotes(cursor: "") { has_more } } } }`;
    const { body } = await caller.graphql(document);
    expect(body.errors[0].extensions).toMatchObject({ status: 400, errors: [{ parameter: 'cursor' }] });
  });
});
