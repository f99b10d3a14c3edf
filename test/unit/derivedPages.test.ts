import { type GraphQLObjectType, parse } from 'graphql';
import { defineCollection } from '../../src/mongo/collection';
import type { OrganisationData } from '../../src/tenant/organisationData';
import { firstPage } from '../../src/tenant/pagination';
import { RowSizes } from '../../src/mongo/readRows';
import { activeFilters } from '../../src/stored/collection';
import { listOfParent } from '../../src/stored/parentList';
import { buildSchemas } from '../../src/operations/build';
import type { Filter } from '../../src/schema/filters';
import { published, SchemaModel } from '../../src/schema/model';
import type { StoredType } from '../../src/schema/storedTypes';
import { read } from '../docs/markdown';
import { emptyRows } from '../support/emptyRows';

/* What lists derive from the members of their rows: conditions and ids, without a database. */

const ORGANISATION = '0b8c7d1e-0000-4000-8000-000000000001';
const PARENT = '0b8c7d1e-0000-4000-8000-000000000002';

interface Row {
  readonly _id: string;
}

const collectionOf = (name: string) => ({
  ...defineCollection<Row>(name, []),
  stored: { members: [{ name: 'created_at', kind: 'dateTime' }] } as unknown as StoredType,
});

describe('a list of a parent', () => {
  /** The conditions of its page after a cursor that the given list made. */
  async function conditionsOfNext(name: string, filters: Readonly<Record<string, unknown>>): Promise<object> {
    const rows = ['a', 'b'].map((_id) => ({ _id, created_at: new Date(0) }));
    const list = { organisationId: ORGANISATION, operation: name, args: { limit: 1 }, filters };
    const cursor = firstPage(rows, list).next_cursor;
    const { rows: found, asked } = emptyRows<Row>();
    const data = {
      organisationId: ORGANISATION,
      collection: () => found,
      pages: (work: () => unknown) => work(),
      reading: () => ({ sizes: new RowSizes(), budget: () => undefined }),
    } as unknown as OrganisationData;
    const parent = { collection: collectionOf('customers'), field: 'customer_id' };
    const reading = { projection: {}, read: () => Promise.resolve(null) };
    await listOfParent({ data }, collectionOf(name), parent, PARENT, { limit: 1, cursor }, reading);
    return asked();
  }

  test('has its rows on every page, even if the root list has no argument for the parent, or there is none', async () => {
    expect(published.filtersOf('products').filter(({ member }) => member === 'customer_id')).toEqual([]);
    for (const name of ['products', 'unlisted'])
      expect(await conditionsOfNext(name, { '.customer_id': PARENT })).toMatchObject({ customer_id: PARENT });
  });
});

describe('the first page of a list of a parent', () => {
  test('leaves out rows that were deleted or moved since they were found, and continues after the last that was found', async () => {
    const found = ['a', 'b', 'c', 'd'].map((_id, at) => ({ _id, created_at: new Date(10 - at) }));
    const aggregate = () => ({ toArray: () => Promise.resolve([{ _id: PARENT, rows: found }]) });
    const data = {
      organisationId: ORGANISATION,
      collection: () => ({ collectionName: 'quotes', aggregate }),
      aggregations: (work: () => unknown) => work(),
      nestedBudget: () => undefined,
    } as unknown as OrganisationData;
    const now: Record<string, Row | null> = { a: null, b: { _id: 'b' }, c: { _id: 'c' } };
    Object.assign(now.b!, { customer_id: PARENT });
    Object.assign(now.c!, { customer_id: ORGANISATION });
    const parent = { collection: collectionOf('customers'), field: 'customer_id' };
    const reading = { projection: {}, read: (id: string) => Promise.resolve(now[id] ?? null) };
    const { page } = await listOfParent({ data }, collectionOf('quotes'), parent, PARENT, { limit: 3 }, reading);
    expect(page).toMatchObject({ data: [{ _id: 'b' }], has_more: true });
    expect(Buffer.from(page.next_cursor!, 'base64url').toString()).toContain('"c"');
  });
});

describe('a filter', () => {
  const inForce = (filter: Filter, value: unknown) => activeFilters({ [filter.argument]: value }, [filter]);

  test('compares ids in lower case, whatever the name of the member', () => {
    const filter: Filter = { argument: 'buyer', member: 'buyer', members: [], by: 'EQUALS', type: 'ID' };
    expect(inForce(filter, PARENT.toUpperCase())).toEqual({ buyer: PARENT });
    expect(inForce(filter, [PARENT.toUpperCase()])).toEqual({ buyer: [PARENT] });
  });

  test('compares text as it is given, even if its name is like that of an id', () => {
    const filter: Filter = { argument: 'tax_id', member: 'tax_id', members: [], by: 'EQUALS', type: 'String' };
    expect(inForce(filter, 'AB12')).toEqual({ tax_id: 'AB12' });
  });
});

test('an object of a stored type has its id even if no page lists it', () => {
  const sdl = `${read('schema/base.graphql')}
    type Box @stored(collection: "boxes") { id: ID! created_at: DateTime! updated_at: DateTime! }
    type BoxPage { data: [Box!]! has_more: Boolean! next_cursor: String }
    type Thing @stored(collection: "things") { id: ID! box_id: ID! created_at: DateTime! }
    extend type Query {
      boxes: BoxPage @rest(path: "/boxes") @access(scope: QUOTES_READ)
      thing(id: ID!): Thing @rest(path: "/things/:id") @access(scope: QUOTES_READ)
    }
    extend type Mutation { make: Boolean @access(scope: QUOTES_WRITE) }`;
  const resolvers = { Query: { boxes: () => null, thing: () => null }, Mutation: { make: () => true } };
  const { graphql } = buildSchemas(new SchemaModel(parse(sdl)), resolvers);
  const { id } = (graphql.getType('Thing') as GraphQLObjectType).getFields();
  expect(id!.resolve!({ _id: 'a' }, {}, {}, {} as never)).toBe('a');
});
