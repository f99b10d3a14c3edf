import { parse } from 'graphql';
import { collections } from '../../src/resources';
import type { CheckedResource } from '../../src/schema/checks/errors';
import { broken, type Case, lintOf, SDL } from '../support/brokenSchema';

/* Breaks stored types, lists and writes of the published schema; the linter must say what to write where. */

const CASES: readonly Case[] = [
  ['Query.orders has a limit with default', /(  orders\(q.*?)default: 20/, '$1default: 50'],
  ['Customer.quotes has a limit with default', /(type Customer [^]*?quotes\(.*?)default: 20/, '$1default: 10'],
  ['Query.audit_events has a limit with default', /(audit_events\(.*?)default: 20/, '$1default: 50'],
  ['Query.orders is a list without limit: add limit', /(  orders\(q.*?), limit: Int @constraint\([^)]*\)/, '$1'],
  ['Query.orders is a list without cursor', /(  orders\(q.*?), cursor: String @constraint\([^)]*\)/, '$1'],
  [
    'Query.quotes(sort:) sorts by number, which lists omit: remove its @graphql_only(on: LISTS)',
    /(type Quote [^]*?number: String! @constraint\([^)]*\))/,
    '$1 @graphql_only(on: LISTS)',
  ],
  ['Query.requests(sort:) takes any text', /(  requests\(q.*?sort: String) @constraint\([^)]*\)/, '$1'],
  ['Query.requests(sort:) is not a String', /(  requests\(q.*?sort: )String/, '$1[String!]'],
  [
    'Query.quotes(created_after:) is a second SINCE of created_at, beside created_since: remove one of them',
    'created_before: DateTime @filter(member: "created_at", by: BEFORE)',
    'created_after: DateTime @filter(member: "created_at", by: SINCE)',
  ],
  [
    'Query.quotes(created_before:) is a second BEFORE of created_at, beside created_until: remove one of them',
    'created_since: DateTime @filter(member: "created_at", by: SINCE)',
    'created_until: DateTime @filter(member: "created_at", by: BEFORE)',
  ],
  ['Query.quote_totals takes status', /(quote_totals\()/, '$1status: QuoteStatus @filter '],
  ['Query.quote_totals takes from as Date', /(quote_totals\(.*?from: )DateTime/, '$1Date'],
  [
    'Query.quote_totals has rows with fee_minor, but Quote has no such Minor member to sum: remove it',
    /(type QuoteTotal \{[^}]*)subtotal_minor: Minor!/,
    '$1fee_minor: Minor!',
  ],
  [
    'QuoteLine.orders leads to the type Order, but only fields of types with @stored can: move it to the one around QuoteLine',
    /(type QuoteLine \{)/,
    '$1 orders: OrderPage @graphql_only',
  ],
  [
    'Order.quote is non-null, but what it refers to may be gone: remove !',
    'quote: Quote @graphql_only',
    'quote: Quote! @graphql_only',
  ],
  [
    'Order.quote takes number, which has no effect: remove it',
    'quote: Quote @graphql_only',
    'quote(number: String): Quote @graphql_only',
  ],
  ['Order.quote is referred to by quote_id', 'quote_id: ID', 'quote_id: ID @graphql_only(on: LISTS)'],
  ['Order.quote has @graphql_only(on', 'quote: Quote @graphql_only', 'quote: Quote @graphql_only(on: LISTS)'],
  [
    'Customer.requests has @graphql_only(on: LISTS), but REST never has other objects: remove (on: LISTS)',
    '): RequestPage @graphql_only',
    '): RequestPage @graphql_only(on: LISTS)',
  ],
  ['Product is @stored, but no Query.products lists it', /  products\(q.*/, ''],
  ['Query.order takes id as Int!: write id: ID!', 'order(id: ID!)', 'order(id: Int!)'],
  ['Query.order takes id as ID: write id: ID!', 'order(id: ID!)', 'order(id: ID)'],
  [
    'QuoteLine.qty is a Float without both bounds, which the sums of its values need: add @constraint(min:, max:)',
    /(type QuoteLine [^}]*qty: Float! @constraint\(min: 0), max: 1000000000/,
    '$1',
  ],
  [
    'Product.uom takes long, which has no effect on what is stored: remove it',
    /(type Product [^}]*)uom: String/,
    '$1uom(long: Boolean): String',
  ],
  [
    'QuoteLine.uom takes long, which has no effect on what is stored: remove it',
    /(type QuoteLine [^}]*)uom: String/,
    '$1uom(long: Boolean): String',
  ],
  ['Product.etag is the entity tag: write etag', /(type Product [^}]*)uom: String/, '$1etag: String! uom: String'],
  [
    'Request has created_at with @graphql_only(on: LISTS), but lists are sorted by it: remove that',
    /(type Request [^}]*created_at: DateTime!)/,
    '$1 @graphql_only(on: LISTS)',
  ],
  ['Product has @stored(unique', /(type Product [^}]*sku: String)!/, '$1'],
  ['Product has @stored(unique', /(type Product [^}]*sku: )String!/, '$1[String!]!'],
  [
    'Product has a unique index of sku, but Product has no unique member: name one in @stored(unique:), or remove unique',
    '@stored(collection: "products", unique: "sku")',
    '@stored(collection: "products")',
  ],
  ['src/auth/scopes.ts has QUOTES_WRITE, which enum Scope lacks', /(enum Scope \{[^}]*)QUOTES_WRITE/, '$1'],
  ['src/auth/roles.ts has admin, which enum MemberRole lacks', /(enum MemberRole \{[^}]*)admin/, '$1'],
  ['src/auth/plans.ts has enterprise, which enum Plan lacks', /(enum Plan \{[^}]*)enterprise/, '$1'],
  ['enum McpAccess has admin, which src/auth/mcpAccess.ts lacks', /(enum McpAccess \{)/, '$1 admin'],
  ['enum TotalsGroup has WEEK, which src/stored/totals.ts lacks', /(enum TotalsGroup \{)/, '$1 WEEK'],
  ['src/schema/upserts.ts has unchanged', /(enum UpsertOutcome \{[^}]*)unchanged/, '$1'],
  [
    'the description of PRODUCTS_READ in enum Scope does not begin with its scope, which the settings page shows: write "products:read: " and what it allows',
    /(enum Scope \{\s*)PRODUCTS_READ/,
    '$1"products:eat: Eat products." PRODUCTS_READ',
  ],
  [
    'ProductUpsert.lead_time_days is String, but Product.lead_time_days is Int: use the same type',
    /(input ProductUpsert \{[^]*?lead_time_days: )Int/,
    '$1String',
  ],
  [
    'ProductUpsert.category is [String!], but Product.category is String: use the same type',
    /(input ProductUpsert \{[^}]*category: )String/,
    '$1[String!]',
  ],
  [
    'ContactInput.primary is String, but Contact.primary is Boolean!: use the same type',
    /(input ContactInput \{[^}]*primary: )Boolean/,
    '$1String',
  ],
  [
    'ProductUpsert.name takes what Product.name excludes, which has max_length: 200: write that, too',
    /(input ProductUpsert \{[^}]*name: String @constraint\(not_null: true, min_length: 1, max_length: )200/,
    '$1300',
  ],
  [
    'ProductUpsert.unit_price_minor takes what Product.unit_price_minor excludes, which has min: 0: write that, too',
    /(input ProductUpsert \{[^]*?unit_price_minor: Minor) @constraint\(min: 0\)/,
    '$1',
  ],
  [
    'ContactInput.name takes what Contact.name excludes, which has pattern: "\\\\S": write that, too',
    /(input ContactInput \{[^}]*max_length: 200), pattern: "\\\\S"/,
    '$1',
  ],
  [
    'CustomerUpsert.email takes what Customer.email excludes, which has format: "email": write that, too',
    /(input CustomerUpsert \{[^}]*email: String @constraint\()format: "email", /,
    '$1',
  ],
  [
    'Mutation.open_request(subject:) takes what Request.subject excludes, which has max_length: 200: write that, too',
    /(open_request\(.*?subject: String @constraint\(min_length: 1, max_length: )200/,
    '$1300',
  ],
  [
    'Query.quote_totals has rows whose status is QuoteStatus!, but null unless totals are grouped by it: remove !',
    /(type QuoteTotal \{[^}]*status: QuoteStatus)/,
    '$1!',
  ],
  [
    'Query.quote_totals has rows whose status is OrderStatus: write QuoteStatus',
    /(type QuoteTotal \{[^}]*status: )QuoteStatus/,
    '$1OrderStatus',
  ],
  [
    'Mutation.upsert_products upserts a list of elements, but has none: name an argument as the collection with @per_element, and the key as @stored(unique:)',
    '@stored(collection: "products", unique: "sku")',
    '@stored(collection: "products")',
  ],
  [
    'Mutation.upsert_products upserts a list of elements, but has none: name an argument as the collection with @per_element, and the key as @stored(unique:)',
    /(products: \[ProductUpsert!\]! @constraint\([^)]*\)) @per_element/,
    '$1',
  ],
  [
    'Mutation.upsert_products(products:) has @per_element but is [ProductUpsert!]: its elements are objects, as [ProductUpsert!]!',
    'products: [ProductUpsert!]! @constraint',
    'products: [ProductUpsert!] @constraint',
  ],
  [
    'Mutation.upsert_products takes notify, but a bulk call takes products, atomic, dry_run',
    /(upsert_products\()/,
    '$1notify: Boolean ',
  ],
  ['Mutation.upsert_products takes atomic as String', /(upsert_products\([^)]*\)[^)]*atomic: )Boolean/, '$1String'],
  ['Request.message_count has @untrusted', 'message_count: Int!', 'message_count: Int! @untrusted'],
];

test.each(CASES.map((one) => [one[0], one] as const))('%s is said by the linter', (sentence, one) => {
  expect(lintOf(broken(one))).toContain(sentence);
});

test.each<[sentence: string, index: CheckedResource['indexes'][number]]>([
  [
    'Product has a unique index of name, but Product can only have unique sku',
    { on: { name: 1 }, options: { unique: true } },
  ],
  ['Product has an index with id in products, which is stored as _id: write _id', { on: { id: 1, _id: 1 } }],
  ['Product has an index with weight in products, but no such member', { on: { weight: 1 } }],
])('%s is said of an index', (sentence, index) => {
  const resources = collections.map((one) =>
    one.name === 'products' ? { ...one, indexes: [...one.indexes, index] } : one,
  );
  expect(lintOf(parse(SDL), { resources })).toContain(sentence);
});

test('a resource that is listed twice is reported', () => {
  expect(lintOf(parse(SDL), { resources: [...collections, collections[0]!] })).toContain(
    'the resource products is in src/resources/index.ts more than once: remove the others',
  );
});

test.each([
  ['Product', 'name'],
  ['QuoteLine', 'description'],
  ['Address', 'city'],
])('a resolver of a stored member, %s.%s, is reported', (type, member) => {
  expect(lintOf(parse(SDL), { own: { [type]: { [member]: () => null } } })).toContain(
    `${type}.${member} has a resolver, but is stored, so that an import requires it: remove one of them`,
  );
});
