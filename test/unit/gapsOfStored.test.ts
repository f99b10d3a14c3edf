import { parse } from 'graphql';
import { Schema } from 'mongoose';
import { OWN } from '../../src/cli/common/open';
import { collections } from '../../src/resources';
import type { Resolver } from '../../src/operations/run';
import { OF_DOCUMENTS } from '../../src/schema/gaps/memberGaps';
import type { CheckedResource } from '../../src/schema/gaps/sentences';
import { OWN_COLLECTIONS } from '../../src/schema/gaps/storedGaps';
import { broken, gapsOf, SDL } from '../support/brokenSchema';

/* Breaks stored types, their reads and their resources in one way after another. */

const resolve: Resolver = () => null;

test.each<[string, string | RegExp, string, string]>([
  [
    'a list that any key may read',
    /(  orders\(q.*@access)\(scope: ORDERS_READ\)/,
    '$1',
    'Query.orders has @access without a scope, so any key could read each Order: name one',
  ],
  [
    'a read by id that any key may call',
    /(  order\(id.*@access)\(scope: ORDERS_READ\)/,
    '$1',
    'Query.order has @access without a scope, so any key could read each Order: name one',
  ],
  [
    'another list of a stored type that any key may read',
    /(  request_messages\(.*@access)\(scope: REQUESTS_READ\)/,
    '$1',
    'Query.request_messages has @access without a scope, so any key could read each Message: name one',
  ],
  [
    'totals that any key may read',
    /(  order_totals\(.*@access)\(scope: ORDERS_READ\)/,
    '$1',
    'Query.order_totals has @access without a scope, so any key could read each Order: name one',
  ],
  [
    'a write that shows any key what is stored',
    /(  open_request\(.*@access)\(scope: REQUESTS_WRITE\)/,
    '$1',
    'Mutation.open_request has @access without a scope, so any key could read each Request: name one',
  ],
  [
    'a list for several scopes',
    /(  orders\(q.*@access)\(scope: ORDERS_READ\)/,
    '$1(any_of: [ORDERS_READ, QUOTES_READ])',
    'Query.orders has @access without scope, which decides who hears of changes of orders: use a single scope',
  ],
  [
    'a stored type that no field lists',
    /  products\(q.*/,
    '',
    'Product is @stored, but no Query.products lists it: add one, since its scope decides who hears of changes',
  ],
  [
    'a list of another stored type',
    'ProductPage @rest',
    'OrderPage @rest',
    'Product is @stored, but no Query.products lists it: add one, since its scope decides who hears of changes',
  ],
  ['a read by a number', 'order(id: ID!)', 'order(id: Int!)', 'Query.order(id:) is Int!: write id: ID!'],
  ['a read by nothing', 'order(id: ID!)', 'order(id: ID)', 'Query.order(id:) is ID: write id: ID!'],
  [
    'a decimal without both bounds',
    /(type QuoteLine [^}]*qty: Float! @constraint\(min: 0), max: 1000000000/,
    '$1',
    'QuoteLine.qty is a Float without both bounds, which the sums of its values need: add @constraint(min:, max:)',
  ],
  [
    'a member named as the search words',
    /(type Product [^}]*)category: String/,
    '$1search: String',
    'Product.search has a name that the storage uses itself: rename it',
  ],
  [
    'a member named as one of documents',
    /(type Product [^}]*)uom: String/,
    '$1errors: String',
    'Product.errors has a name that the storage uses itself: rename it',
  ],
  [
    'a member of a line named as one of documents',
    /(type QuoteLine [^}]*)uom: String/,
    '$1errors: String',
    'QuoteLine.errors has a name that the storage uses itself: rename it',
  ],
  [
    'a stored member with an argument',
    /(type Product [^}]*)uom: String/,
    '$1uom(long: Boolean): String',
    'Product.uom(long:) has no effect on what is stored: remove it',
  ],
  [
    'a stored member of a line with an argument',
    /(type QuoteLine [^}]*)uom: String/,
    '$1uom(long: Boolean): String',
    'QuoteLine.uom(long:) has no effect on what is stored: remove it',
  ],
  [
    'an entity tag that REST would contain',
    /(type Product [^}]*)uom: String/,
    '$1etag: String! uom: String',
    'Product.etag is the entity tag: write etag: String! @graphql_only',
  ],
  [
    'an entity tag that is a number',
    /(type Product [^}]*)uom: String/,
    '$1etag: Int! @graphql_only uom: String',
    'Product.etag is the entity tag: write etag: String! @graphql_only',
  ],
  [
    'a time of creation that lists omit',
    /(type Request [^}]*created_at: DateTime!)/,
    '$1 @graphql_only(on: LISTS)',
    'Request.created_at has @graphql_only(on: LISTS), but lists are sorted by it: remove that',
  ],
  ...OWN_COLLECTIONS.map((name): [string, string, string, string] => [
    `the gateway's own collection ${name}`,
    '@stored(collection: "messages")',
    `@stored(collection: "${name}")`,
    `Message has the collection ${name}, which is the gateway's own: use another in @stored`,
  ]),
  [
    'a unique member that may be null',
    /(type Product [^}]*sku: String)!/,
    '$1',
    'Product has @stored(unique: "sku"), which must be a single text or number that is never null',
  ],
  [
    'a unique member that is a list',
    /(type Product [^}]*sku: )String!/,
    '$1[String!]!',
    'Product has @stored(unique: "sku"), which must be a single text or number that is never null',
  ],
  [
    'a unique member that is a time',
    /(type Product [^}]*sku: )String! @constraint\([^)]*\) @searchable/,
    '$1DateTime!',
    'Product has @stored(unique: "sku"), which must be a single text or number that is never null',
  ],
  [
    'a unique index of a type without a unique member',
    '@stored(collection: "products", unique: "sku")',
    '@stored(collection: "products")',
    'a unique index of products has sku, but Product has no unique member: name one as @stored(unique:), or remove unique',
  ],
])('%s is reported', (_title, from, to, sentence) => {
  expect(gapsOf(broken(from, to))).toContain(sentence);
});

/** The resources, with a further index of one. */
function withIndex(name: string, index: CheckedResource['indexes'][number]): CheckedResource[] {
  return collections.map((resource) =>
    resource.name === name ? { ...resource, indexes: [...resource.indexes, index] } : resource,
  );
}

test.each<[string, CheckedResource['indexes'][number], string]>([
  [
    'a second unique index',
    { on: { name: 1 }, options: { unique: true } },
    'a unique index of products has name, but only sku can be unique, as @stored of Product says: remove unique from the index',
  ],
  [
    'a unique index of several members',
    { on: { sku: 1, name: 1 }, options: { unique: true } },
    'a unique index of products has sku, name, but only sku can be unique, as @stored of Product says',
  ],
  [
    'an index of the id',
    { on: { id: 1, _id: 1 } },
    'an index of products contains id, which is stored as _id: write _id',
  ],
])('%s is reported', (_title, index, sentence) => {
  expect(gapsOf(parse(SDL), withIndex('products', index))).toContain(`invalid schema: ${sentence}`);
});

test('a resource that is listed twice is reported', () => {
  const [first] = collections;
  expect(gapsOf(parse(SDL), [...collections, first!])).toBe(
    'invalid schema: the resource products is in src/resources/index.ts more than once: remove the others',
  );
});

test.each([
  ['Product', 'name'],
  ['QuoteLine', 'description'],
  ['Address', 'city'],
])('a resolver of a stored member, %s.%s, is reported', (type, member) => {
  expect(gapsOf(parse(SDL), collections, { [type]: { [member]: resolve } })).toBe(
    `invalid schema: ${type}.${member} has a resolver, but is stored, so that an import requires it: remove one of them`,
  );
});

test('relations and entity tags have resolvers', () => {
  const tagged = broken(/(type Product [^}]*)uom: String/, '$1etag: String! @graphql_only uom: String');
  expect(gapsOf(tagged, collections, { Product: { etag: resolve }, Quote: { customer: resolve } })).toBe('none');
});

test('the names that the storage uses are those of the database and of documents', () => {
  expect([...OWN_COLLECTIONS].sort()).toEqual(OWN.map(({ name }) => name).sort());
  const { reserved } = Schema as unknown as { reserved: object };
  expect([...OF_DOCUMENTS].sort()).toEqual(Object.keys(reserved).sort());
});
