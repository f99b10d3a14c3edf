import { parse } from 'graphql';
import { collections } from '../../src/resources';
import { refuseGaps } from '../../src/schema/gaps';
import type { CheckedResource } from '../../src/schema/gaps/sentences';
import { broken, gapsOf, SDL } from '../support/brokenSchema';

/* Breaks the published schema in one way after another; each gap must be reported with what to write where. */

/** The resources, with some indexes of one removed. */
function without(name: string, leaves: (on: object) => boolean): CheckedResource[] {
  return collections.map((resource) =>
    resource.name === name ? { ...resource, indexes: resource.indexes.filter(({ on }) => !leaves(on)) } : resource,
  );
}

const first = (on: object): string => Object.keys(on)[0] ?? '';

test('the published schema has no gaps', () => {
  expect(gapsOf(parse(SDL))).toBe('none');
});

test.each<[string, string | RegExp, string, string]>([
  [
    'an unknown scope among several',
    '@access(events: true)',
    '@access(any_of: [PRODUCTS_EAT, QUOTES_READ])',
    'Query.events has the unknown scope PRODUCTS_EAT',
  ],
  ['an empty list of scopes', '@access(events: true)', '@access(any_of: [])', 'Query.events has @access(any_of: [])'],
  [
    'both a scope and a list of scopes',
    '@access(events: true)',
    '@access(scope: ORDERS_READ, any_of: [PRODUCTS_READ])',
    'Query.events has scope and any_of',
  ],
  [
    'both a scope and the scopes of events',
    '@access(events: true)',
    '@access(scope: ORDERS_READ, events: true)',
    'Query.events has events and scopes: use one of them',
  ],
  [
    'a collection without a resource',
    '@stored(collection: "quotes"',
    '@stored(collection: "offers"',
    'Quote is @stored, but no resource has the collection offers: define one and add it to src/resources/index.ts',
  ],
  [
    'a collection with two types',
    '@stored(collection: "messages")',
    '@stored(collection: "orders")',
    'has the same collection as',
  ],
  ['a stored type without an id', /(type Quote [^]*?)id: ID!/, '$1', 'Quote is @stored but has no id: add id: ID!'],
  [
    'a stored type without created_at',
    /(type Message [^]*?)created_at: DateTime!/,
    '$1',
    'Message is @stored but has no created_at, which lists are sorted by: add created_at: DateTime!',
  ],
  [
    'an unknown unique member',
    'unique: "sku"',
    'unique: "code"',
    'Product has @stored(unique: "code"), but no member code',
  ],
  [
    'a unique member without an index',
    'unique: "sku"',
    'unique: "name"',
    'Product has @stored(unique: "name"), but no unique index: add { on: { name: 1 }, options: { unique: true } } to products',
  ],
  [
    'an index of a removed member',
    /(type Product [^]*?)category: String @constraint\(min_length: 1, max_length: 100\) @searchable/,
    '$1',
    'an index of products contains category, but Product has no such member',
  ],
  [
    'a relation without a member for its id',
    /(type Order [^]*?)quote_id: ID/,
    '$1',
    'Order.quote is a Quote, but no member quote_id of type ID refers to it',
  ],
  [
    'a relation in REST',
    'quote: Quote @graphql_only',
    'quote: Quote',
    'Order.quote refers to another object: add @graphql_only',
  ],
  [
    'a nested list in REST',
    '): RequestPage @graphql_only',
    '): RequestPage',
    'Customer.requests is a list: add @graphql_only',
  ],
  [
    'a nested list whose rows do not refer to their parent',
    /(type Request [^]*?)customer_id: ID/,
    '$1',
    'Customer.requests is a list of Request, which has no member customer_id of type ID',
  ],
  [
    'a filter of a nested list',
    /(type Customer [^]*?quotes\()/,
    '$1number: String ',
    'Customer.quotes takes number: a nested list takes only limit and cursor',
  ],
  [
    'a search without searchable members',
    /(type Request [^]*?) @searchable/,
    '$1',
    'Query.requests(q:) searches, but no member of Request is @searchable',
  ],
  [
    'a searchable date',
    /(type Order [^]*?placed_at: DateTime!)/,
    '$1 @searchable',
    'Order.placed_at is @searchable but DateTime: only strings can be',
  ],
  [
    'a searchable member outside of stored types',
    /(type MeKey [^]*?name: String!)/,
    '$1 @searchable',
    'MeKey.name is @searchable, but no stored type contains a MeKey',
  ],
  [
    'searchable members without a search',
    /(requests\(\s*q: [^@]*@constraint\([^)]*\)) @filter\(by: WORDS\)/,
    '$1',
    'Request has members that are @searchable, but no argument of Query.requests has @filter(by: WORDS)',
  ],
  [
    'totals of a type that is not stored',
    '@totals(of: "Quote"',
    '@totals(of: "Offer"',
    'Query.quote_totals has @totals(of: "Offer"), but no type Offer is @stored',
  ],
  [
    'totals by a member that is not a date',
    'at: "placed_at"',
    'at: "number"',
    'Query.order_totals has @totals(at: "number"), but Order has no such DateTime',
  ],
  [
    'totals without an index',
    'at: "placed_at"',
    'at: "updated_at"',
    'Query.order_totals needs an index of orders that begins with updated_at and covers currency, status, customer_id, subtotal_minor',
  ],
  [
    'totals of a type without the members to group by',
    '@totals(of: "Quote"',
    '@totals(of: "Product"',
    'Query.quote_totals groups by status, but Product has no such member',
  ],
  [
    '@sunset without @deprecated',
    /(\): QuoteTotals)/,
    '$1 @sunset(since: "2026-01-01", on: "2027-01-01")',
    'Query.quote_totals has @sunset and no @deprecated',
  ],
  [
    'an invalid sunset date',
    /(\): QuoteTotals)/,
    '$1 @deprecated @sunset(since: "2026-01-01", on: "soon")',
    'Query.quote_totals has @sunset with soon: write days as 2026-11-21',
  ],
  [
    'a sunset before its announcement',
    /(\): QuoteTotals)/,
    '$1 @deprecated @sunset(since: "2026-01-01", on: "2025-01-01")',
    'Query.quote_totals has @sunset(on:) no later than since',
  ],
  [
    'a method for the other kind of operation',
    '@rest(path: "/quotes/:id")',
    '@rest(path: "/quotes/:id", method: PATCH)',
    'Query.quote has @rest(method: PATCH), which is for fields of Mutation',
  ],
  [
    'a path that ends in a slash',
    '@rest(path: "/quotes")',
    '@rest(path: "/quotes/")',
    'Query.quotes has @rest(path: "/quotes/"): use /words and /:arguments',
  ],
  [
    'a path parameter without an argument',
    '@rest(path: "/quotes/:id")',
    '@rest(path: "/quotes/:number")',
    'Query.quote has :number in its path but no argument number',
  ],
  [
    'a nullable path argument',
    /quote\(([^)]*)id: ID!/,
    'quote($1id: ID',
    'Query.quote takes id from its path, so it must be non-null: add !',
  ],
  [
    'a version that no GET reads',
    /open_request\(/,
    'open_request(if_match: String ',
    'Mutation.open_request takes if_match, but no GET of its path reads what it returns',
  ],
  ['an error status', /status: 201/, 'status: 404', 'has @rest(status: 404): use one of 200, 201, 202'],
  ['a duplicate route', '@rest(path: "/orders")', '@rest(path: "/quotes")', 'has the same route as Query.'],
])('%s', (_title, from, to, sentence) => {
  expect(gapsOf(broken(from, to))).toContain(sentence);
});

test.each<[string, string, (on: object) => boolean, string]>([
  [
    'a filter',
    'products',
    (on) => first(on) === 'category',
    'Query.products(category:) filters by category, but no index',
  ],
  ['a sort', 'customers', (on) => first(on) === 'name', 'Query.customers(sort:) sorts by name, but no index'],
  ['a search', 'requests', (on) => first(on) === 'search', 'Query.requests(q:) filters by search, but no index'],
  [
    'a nested list',
    'quotes',
    (on) => first(on) === 'customer_id',
    'Customer.quotes is a list of Quote, but no index of quotes begins with customer_id',
  ],
  [
    'a unique member',
    'orders',
    (on) => Object.keys(on).join() === 'number',
    'Order has @stored(unique: "number"), but no unique index',
  ],
  ['totals', 'quotes', (on) => 'total_minor' in on, 'Query.quote_totals needs an index of quotes'],
])('%s without its index', (_title, name, leaves, sentence) => {
  expect(gapsOf(parse(SDL), without(name, leaves))).toContain(sentence);
});

test('a resource missing from the list', () => {
  const others = collections.filter(({ name }) => name !== 'customers');
  expect(gapsOf(parse(SDL), others)).toContain('Customer is @stored, but no resource has the collection customers');
});

test('every argument of every list without its @filter', () => {
  const pieces = [...SDL.matchAll(/(\w+): [\w[\]!]+ (?:@constraint\([^)]*\) )?@filter(?:\([^)]*\))?/g)];
  expect(pieces.length).toBeGreaterThan(25);
  for (const { 0: piece, 1: name, index } of pieces) {
    const sdl = SDL.slice(0, index) + piece.replace(/ @filter.*$/, '') + SDL.slice(index + piece.length);
    expect(gapsOf(parse(sdl))).toContain(
      `(${String(name)}:) has no @filter: say which member of the rows it compares, or remove it`,
    );
  }
});

test('every root field without its @access, and without its resolver', () => {
  const fields = [...SDL.matchAll(/@access(\([^)]*\))?/g)];
  expect(fields.length).toBeGreaterThan(25);
  const unguarded = SDL.replaceAll(/ @access(\([^)]*\))?(?= *$)/gm, '');
  const sentences = gapsOf(parse(unguarded));
  for (const name of ['Query.quotes', 'Query.me', 'Mutation.open_request', 'Query.quote_totals'])
    expect(sentences).toContain(`${name} has no @access`);
  expect(() => {
    refuseGaps(parse(SDL), {}, collections);
  }).toThrow(/Query\.quotes has no resolver.*Mutation\.open_request has no resolver.*/);
});

test('several gaps are reported together', () => {
  const sdl = SDL.replace('unique: "sku"', 'unique: "code"').replace('at: "placed_at"', 'at: "number"');
  expect(gapsOf(parse(sdl))).toMatch(
    /Product has @stored\(unique: "code"\).*Query\.order_totals has @totals\(at: "number"\)/,
  );
});
