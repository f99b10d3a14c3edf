import { parse } from 'graphql';
import { OWN } from '../../src/cli/store';
import { collections, resolvers } from '../../src/resources';
import { OWN_COLLECTIONS, refuseErrors } from '../../src/schema/checks';
import type { CheckedResource } from '../../src/schema/checks/errors';
import type { Merge } from '../../src/schema/resolvers';
import { loadDocument } from '../../src/schema/sdl';
import type { Resolvers } from '../../src/operations/run';
import { broken, type Case, errorsOf, SDL } from '../support/brokenSchema';

/* Breaks the published schema in one way after another; the server must refuse to start, and say what to write where. */

/** A read and a write, as a field of Query and of Mutation. */
const read = (field: string): string => `extend type Query { ${field} @access(scope: QUOTES_READ) }`;
const write = (field: string): string => `extend type Mutation { ${field} @access(scope: QUOTES_WRITE) }`;

const CASES: readonly Case[] = [
  ['Directive "@rest" argument "path" of type "String!" is required', '@rest(path: "/me")', '@rest'],
  ['enum Scope has toString, which src/auth/scopes.ts lacks', 'extend enum Scope { toString }'],
  ['enum FilterBy has AFTER, which src/schema/sdl.ts lacks', 'extend enum FilterBy { AFTER }'],
  [
    'Product has unit_price_minor: Int, but it is money: write Minor',
    /(type Product [^]*?price_minor: )Minor/,
    '$1Int',
  ],
  [
    'Query.api_keys is for users but has @rest: remove it',
    /(api_keys\([^]*?\): ApiKeyPage)/,
    '$1 @rest(path: "/keys")',
  ],
  ['RequestContactInput.role is no member of RequestContact', /(input RequestContactInput \{)/, '$1 role: String'],
  [
    'Value "PRODUCTS_EAT" does not exist in "Scope" enum. Did you mean the enum value "PRODUCTS_READ" or "PRODUCTS_WRITE"?',
    '@access(events: true)',
    '@access(any_of: [PRODUCTS_EAT, QUOTES_READ])',
  ],
  [
    'Query.events has @access(scope:, any_of:): give one of them',
    '@access(events: true)',
    '@access(scope: ORDERS_READ, any_of: [PRODUCTS_READ])',
  ],
  ['Query.events has @access(scope:, events:)', '@access(events: true)', '@access(scope: ORDERS_READ, events: true)'],
  [
    'Quote is @stored, but no resource has the collection offers: define one and add it to src/resources/index.ts',
    '@stored(collection: "quotes"',
    '@stored(collection: "offers"',
  ],
  ['Message has the same collection as Order', '@stored(collection: "messages")', '@stored(collection: "orders")'],
  ['Product has @stored(unique: "name"), but no unique index: add { on: { name', 'unique: "sku"', 'unique: "name"'],
  ['Query.requests(q:) has no @filter', /(requests\(\s*q: [^@]*@constraint\([^)]*\)) @filter\(by: WORDS\)/, '$1'],
  [
    'Query.order_totals needs an index of orders that begins with updated_at and covers currency, status, customer_id, subtotal_minor, discount_minor, vat_minor, shipping_minor, total_minor',
    'at: "placed_at"',
    'at: "updated_at"',
  ],
  ['Query.quotes has the same route as Query.orders', '@rest(path: "/orders")', '@rest(path: "/quotes")'],
  ['Query.it is a list of Quote: write QuotePage', read('it: [Quote!] @rest(path: "/it")')],
  ['the scalar Json is checked by nothing: add it to src/schema/scalars.ts, or remove it', 'scalar Json'],
  ['Value "ITEMS" does not exist in "GraphqlOnly" enum.', '@graphql_only(on: LISTS)', '@graphql_only(on: ITEMS)'],
  ['Value "AFTER" does not exist in "FilterBy" enum.', 'by: SINCE', 'by: AFTER'],
  ['Float cannot represent non numeric value: "100"', /(  orders\(q.*?)max: 100/, '$1max: "100"'],
  ['Query.orders has a limit without min, max and default: add @constraint(min', /(  orders\(q.*?)max: 100, /, '$1'],
  [
    'Query.quotes(sort:) sorts by total_minor, but no index of its collection has that order: add one of the member and _id in the definition of the collection',
    /(  quotes\(q.*)"number", "-number"/,
    '$1"total_minor"',
  ],
  [
    'Order.customer leads to the type Customer, which any key could read: add @access with the scope of reading it',
    /(type Order @stored[^]*?customer: Customer @graphql_only) @access\(scope: CUSTOMERS_READ\)/,
    '$1',
  ],
  [
    'Order.quote leads to the type Quote, which any key could read: add @access with the scope of reading it',
    'quote: Quote @graphql_only @access(scope: QUOTES_READ)',
    'quote: Quote @graphql_only @access',
  ],
  [
    'Customer.requests leads to the type Request, which any key could read: add @access with the scope of reading it',
    '): RequestPage @graphql_only @access(scope: REQUESTS_READ)',
    '): RequestPage @graphql_only',
  ],
  [
    'OrderLine.product has no resolver: add one to the resolvers of its resource',
    /(type OrderLine \{)/,
    '$1 product_id: ID product: Product @graphql_only @access(scope: PRODUCTS_READ)',
  ],
  ['Order.quote is a list of Quote', 'quote: Quote @graphql_only', 'quote: [Quote!] @graphql_only'],
  [
    'Query.numbered_quote has the same route as Query.quote: change its path or method',
    read('numbered_quote(number: ID!): Quote @rest(path: "/quotes/:number")'),
  ],
  ['Query.orders has @access without a scope', /(  orders\(q.*@access)\(scope: ORDERS_READ\)/, '$1'],
  ['Query.order has @access without a scope', /(  order\(id.*@access)\(scope: ORDERS_READ\)/, '$1'],
  ['Query.order_totals has @access without a scope', /(  order_totals\(.*@access)\(scope: ORDERS_READ\)/, '$1'],
  ['Mutation.open_request has @access without a scope', /(  open_request\(.*@access)\(scope: REQUESTS_WRITE\)/, '$1'],
  [
    'Query.orders has @access without scope, which decides who hears of changes of orders: use a single scope',
    /(  orders\(q.*@access)\(scope: ORDERS_READ\)/,
    '$1(any_of: [ORDERS_READ, QUOTES_READ])',
  ],
  ['Query.products(sku:) filters by sku, which its rows do not have', 'ProductPage @rest', 'OrderPage @rest'],
  ['Message has the collection events', '@stored(collection: "messages")', '@stored(collection: "events")'],
  ['enum Scope has PARCELS_READ, which src/auth/scopes.ts lacks', /(enum Scope \{)/, '$1 PARCELS_READ'],
  ['enum Role has OWNER, which src/auth/roles.ts lacks: add it there', /(enum Role \{)/, '$1 OWNER'],
  ['Order.note takes any text about a customer', /(type Order @stored[^{]*\{)/, '$1 note: String'],
  [
    'Order.delivery_address takes any text about a customer: add @personal, so that erasing the customer erases it, or @personal(erased: false) to keep it',
    /(type Order @stored[^]*?delivery_address: Address) @personal/,
    '$1',
  ],
  [
    'Order.placed_at is @personal but can be neither null nor a text, so it cannot be erased: make it nullable',
    /(type Order @stored[^]*?placed_at: DateTime!)/,
    '$1 @personal',
  ],
  [
    'Product.name is @personal, but is no member of a stored type that refers to a customer: remove it',
    /(type Product @stored[^}]*name: String!)/,
    '$1 @personal',
  ],
  ['ProductUpsert.colour is no member of Product', /(input ProductUpsert \{)/, '$1 colour: String'],
  ['AddressInput.floor is no member of Address, so it would be lost', /(input AddressInput \{)/, '$1 floor: Int'],
  [
    'CustomerUpsert.billing_address is not stored by Mutation.upsert_customers: set it in the merge of customers',
    /(input CustomerUpsert \{[^}]*billing_address: )AddressInput/,
    '$1String',
  ],
  [
    'Mutation.upsert_products has the scope PRODUCTS_READ, with which keys read Query.product: use another for writes',
    /(  upsert_products\(.*@access\(scope: )PRODUCTS_WRITE/,
    '$1PRODUCTS_READ',
  ],
  [
    'Mutation.change_quote(reason:) is no member of Quote, which a PATCH sets: add it there, or use POST',
    write(
      'change_quote(id: ID!, reason: String, status: QuoteStatus @constraint(not_null: true)): Quote @rest(method: PATCH, path: "/quotes/:id")',
    ),
  ],
];

test.each(CASES.map((one) => [one[0], one] as const))('%s stops the start', (sentence, one) => {
  expect(errorsOf(broken(one))).toContain(sentence);
});

test('the published schema starts', () => {
  expect(errorsOf(parse(SDL))).toBe('none');
});

test('errors are one a line, each with the file and line of the SDL', () => {
  expect(() => {
    refuseErrors(loadDocument(), {}, collections);
  }).toThrow(/^invalid schema:\n(schema\/\w+\.graphql:\d+: \w+\.\w+ has no resolver: [^\n]+\n?)+$/);
});

test('a fault that stands in several places is said once', () => {
  const sdl = SDL.replaceAll('scope: QUOTES_READ', 'scope: QUOTES_EAT');
  expect(errorsOf(parse(sdl)).split('\n')).toHaveLength(2);
});

const first = (on: object): string => Object.keys(on)[0] ?? '';

test.each<[sentence: string, list: string, leaves: (on: object) => boolean]>([
  ['Query.products(category:) filters by category, but no index', 'products', (on) => first(on) === 'category'],
  ['Query.customers(sort:) sorts by name, but no index', 'customers', (on) => first(on) === 'name'],
  ['Query.requests(q:) filters by search, but no index', 'requests', (on) => first(on) === 'search'],
  [
    'Customer.quotes is a list of Quote, but no index of quotes begins with customer_id',
    'quotes',
    (on) => first(on) === 'customer_id',
  ],
  ['Order has @stored(unique: "number"), but no unique index', 'orders', (on) => Object.keys(on).join() === 'number'],
  ['Query.quote_totals needs an index of quotes', 'quotes', (on) => 'total_minor' in on],
])('%s: a missing index stops the start', (sentence, name, leaves) => {
  const resources = collections.map((resource) =>
    resource.name === name ? { ...resource, indexes: resource.indexes.filter(({ on }) => !leaves(on)) } : resource,
  );
  expect(errorsOf(parse(SDL), { resources })).toContain(sentence);
});

test('a sort needs an index that puts rows with equal values in order, unless no two have the same', () => {
  const by = (...indexes: CheckedResource['indexes']): string =>
    errorsOf(parse(SDL.replace('"name", "-name"]', '"email"]')), {
      resources: collections.map((one) =>
        one.name === 'customers'
          ? { ...one, indexes: [...one.indexes.filter(({ on }) => first(on) !== 'email'), ...indexes] }
          : one,
      ),
    });
  expect(by({ on: { email: 1 } })).toContain('Query.customers(sort:) sorts by email, but no index');
  expect(by({ on: { email: 1, _id: 1 } })).toBe('none');
  expect(by({ on: { email: 1 }, options: { unique: true } })).toBe('none');
});

test('a resource missing from the list is the only thing that is said of it', () => {
  const resources = collections.filter(({ name }) => name !== 'customers');
  const [, ...lines] = errorsOf(parse(SDL), { resources }).split('\n');
  expect(lines).toEqual([expect.stringContaining('Customer is @stored, but no resource has the collection customers')]);
});

test('every argument of every list needs its @filter, and every root field its @access and resolver', () => {
  const pieces = [...SDL.matchAll(/(\w+): [\w[\]!]+ (?:@constraint\([^)]*\) )?@filter(?:\([^)]*\))?/g)];
  expect(pieces.length).toBeGreaterThan(25);
  const unfiltered = errorsOf(parse(SDL.replaceAll(/(?<!directive) @filter(\([^)]*\))?/g, '')));
  for (const [, name] of pieces) expect(unfiltered).toContain(`(${String(name)}:) has no @filter`);
  const unguarded = errorsOf(parse(SDL.replaceAll(/ @access(\([^)]*\))?(?= *$)/gm, '')));
  for (const name of ['Query.quotes', 'Query.me', 'Mutation.open_request', 'Query.quote_totals'])
    expect(unguarded).toContain(`${name} has no @access`);
});

test('what is stored without end is refused before anything is made of it', () => {
  const sdl = 'type Tree { branches: [Tree!]! } extend type Quote { tree: Tree @graphql_only }';
  expect(errorsOf(parse(`${SDL}\n${sdl}`))).toContain('Tree.branches leads back to Tree, but is stored in each Quote');
});

test("the gateway's own collections are those that it has", () => {
  expect([...OWN_COLLECTIONS].sort()).toEqual(OWN.map(({ name }) => name).sort());
});

/* What only the code of a merge does is found by trying it. */

/** The SDL with a member added to the stored type and to the input of its elements. */
function both(member: string, input = member): ReturnType<typeof broken> {
  const sdl = SDL.replace(/(type Product @stored[^{]*\{)/, `$1 ${member}`);
  return parse(sdl.replace(/(input ProductUpsert \{)/, `$1 ${input}`));
}

test.each<[sentence: string, document: ReturnType<typeof broken>]>([
  [
    'ProductUpsert.weight is not stored by Mutation.upsert_products: set it in the merge of products',
    both('weight: Int'),
  ],
  ['Product.weight is lost when Mutation.upsert_products changes another member: keep that', both('weight: Int', '')],
  ['Mutation.upsert_products could store null as Product.weight: require it', both('weight: Int!', '')],
  [
    'Mutation.upsert_customers could store null as Address.city: require it in the input (@constraint(required: true))',
    broken(['', /(input AddressInput \{[^}]*city: String @constraint\()required: true, /, '$1']),
  ],
])('%s: a merge that loses a member stops the start', (sentence, document) => {
  expect(errorsOf(document)).toContain(sentence);
});

/** The resolvers with another merge of products. */
function merging(merge: (merge: Merge) => Merge): Resolvers {
  const known = resolvers.Mutation!.upsert_products!;
  return { Mutation: { upsert_products: Object.assign(() => null, { merge: merge(known.merge!) }) } };
}

test.each<[sentence: string, merge: (merge: Merge) => Merge]>([
  [
    'Product.active is lost when Mutation.upsert_products changes another member',
    (merge) =>
      (...[existing, element, organisation]) => ({
        ...merge(existing, element, organisation),
        active: (element as { active?: boolean | null }).active ?? true,
      }),
  ],
  [
    'Mutation.upsert_products could store null as Product.uom',
    (merge) =>
      (...[existing, element, organisation]) => ({
        ...merge(existing, element, organisation),
        ...('uom' in element && { uom: element.uom }),
      }),
  ],
  [
    'Mutation.upsert_products fails with a valid element: the merge of products throws Error: no',
    () => () => {
      throw new Error('no');
    },
  ],
])('%s: another merge stops the start', (sentence, merge) => {
  expect(errorsOf(parse(SDL), { own: merging(merge) })).toContain(sentence);
});
