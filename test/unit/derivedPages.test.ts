import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GraphQLObjectType, parse } from 'graphql';
import type { mongo } from 'mongoose';
import { definedByType } from '../../src/database/collection';
import type { OrganisationData } from '../../src/database/organisationData';
import { findPage, firstPage, type ListRequest } from '../../src/database/pagination';
import { filtersInForce } from '../../src/stored/collection';
import { listOfParent } from '../../src/stored/parentList';
import { buildSchemas } from '../../src/operations/build';
import { type Filter, filtersOf } from '../../src/schema/filters';

/* What lists derive from the members of their rows: conditions, cursors and ids, without a database. */

const ORGANISATION = '0b8c7d1e-0000-4000-8000-000000000001';
const PARENT = '0b8c7d1e-0000-4000-8000-000000000002';

interface Row {
  readonly _id: string;
}

const TIMES = ['created_at', 'made_on'];
const collectionOf = (name: string) => definedByType<Row>(name, [], TIMES as never);

/** Rows that keep the conditions of their last query. */
function rowsOf(): { rows: mongo.Collection<Row>; asked: () => object } {
  let asked: object = {};
  const rows = { find: (filter: object) => ((asked = filter), { toArray: () => Promise.resolve([]) }) };
  return { rows: rows as unknown as mongo.Collection<Row>, asked: () => asked };
}

describe('the cursor of a list', () => {
  async function conditionsAfter(sort: string, row: Row): Promise<object> {
    const request: ListRequest = {
      ...{ organisationId: ORGANISATION, operation: 'things', filters: {}, conditions: [], times: TIMES },
      args: { sort, limit: 1 },
    };
    const cursor = firstPage([row, row], request).next_cursor;
    const { rows, asked } = rowsOf();
    await findPage(rows, { ...request, args: { ...request.args, cursor } });
    return asked();
  }

  test('continues after a time, whatever the name of its member', async () => {
    const made_on = new Date('2026-11-21T09:00:00.000Z');
    expect(await conditionsAfter('made_on', { _id: 'a', made_on } as Row)).toMatchObject({
      made_on: { $gte: made_on },
    });
  });

  test('continues after a text whose name is like that of a time', async () => {
    const row = { _id: 'a', located_at: 'Hall 2' } as Row;
    expect(await conditionsAfter('located_at', row)).toMatchObject({ located_at: { $gte: 'Hall 2' } });
  });
});

describe('a list of a parent', () => {
  /** The conditions of its page after a cursor that the given list made. */
  async function conditionsOfNext(name: string, filters: Readonly<Record<string, unknown>>): Promise<object> {
    const rows = ['a', 'b'].map((_id) => ({ _id, created_at: new Date(0) }));
    const list = { organisationId: ORGANISATION, operation: name, args: { limit: 1 }, filters };
    const cursor = firstPage(rows, list).next_cursor;
    const { rows: found, asked } = rowsOf();
    const data = {
      organisationId: ORGANISATION,
      collection: () => found,
      pages: (work: () => unknown) => work(),
      ownTurn: () => Promise.resolve(),
    } as unknown as OrganisationData;
    const parent = { collection: collectionOf('customers'), field: 'customer_id' };
    await listOfParent(data, collectionOf(name), parent, PARENT, { limit: 1, cursor }, {});
    return asked();
  }

  test('has the rows of that parent on every page', async () => {
    expect(await conditionsOfNext('quotes', { customer_id: PARENT })).toMatchObject({ customer_id: PARENT });
  });

  test('has them even if the root list has no argument for the parent, or there is none', async () => {
    expect(filtersOf('products').filter(({ member }) => member === 'customer_id')).toEqual([]);
    for (const name of ['products', 'unlisted'])
      expect(await conditionsOfNext(name, { '.customer_id': PARENT })).toMatchObject({ customer_id: PARENT });
  });
});

describe('a filter', () => {
  const inForce = (filter: Filter, value: unknown) => filtersInForce({ [filter.argument]: value }, [filter]);

  test('compares ids in lower case, whatever the name of the member', () => {
    const filter: Filter = { argument: 'buyer', member: 'buyer', by: 'EQUALS', type: 'ID' };
    expect(inForce(filter, PARENT.toUpperCase())).toEqual({ buyer: PARENT });
    expect(inForce(filter, [PARENT.toUpperCase()])).toEqual({ buyer: [PARENT] });
  });

  test('compares text as it is given, even if its name is like that of an id', () => {
    const filter: Filter = { argument: 'tax_id', member: 'tax_id', by: 'EQUALS', type: 'String' };
    expect(inForce(filter, 'AB12')).toEqual({ tax_id: 'AB12' });
  });

  test('has ids if its argument is one', () => {
    const ids = filtersOf('orders').filter(({ type }) => type === 'ID');
    expect(ids.map(({ member }) => member)).toEqual(['customer_id']);
  });
});

test('an object of a stored type has its id even if no page lists it', () => {
  const base = readFileSync(join(__dirname, '..', '..', 'schema', 'base.graphql'), 'utf8');
  const sdl = `${base}
    type Thing @stored(collection: "things") { id: ID! thing_id: ID! created_at: DateTime! }
    extend type Query { thing(id: ID!): Thing @access(scope: QUOTES_READ) }
    extend type Mutation { make: Boolean @access(scope: QUOTES_WRITE) }`;
  const resolvers = { Query: { thing: () => null }, Mutation: { make: () => true } };
  const { graphql } = buildSchemas(parse(sdl), resolvers, [{ name: 'things', indexes: [] }]);
  const { id } = (graphql.getType('Thing') as GraphQLObjectType).getFields();
  expect(id!.resolve!({ _id: 'a' }, {}, {}, {} as never)).toBe('a');
});
