import { parse } from 'graphql';
import type { Resolvers } from '../../src/operations/run';
import { collections, resolvers } from '../../src/resources';
import type { CheckedResource } from '../../src/schema/checks/errors';
import type { Merge } from '../../src/schema/upserts';
import { broken, type Case, lintOf, SDL } from '../support/brokenSchema';

/* Breaks the published schema in ways that neither show nor lose data; the linter must say what to change where. */

/** A read and a write, as a field of Query and of Mutation. */
const read = (field: string): string => `extend type Query { ${field} @access(scope: QUOTES_READ) }`;
const write = (field: string): string => `extend type Mutation { ${field} @access(scope: QUOTES_WRITE) }`;

const change = (args: string): string =>
  write(`change_quote(id: ID!, ${args}): Quote @rest(method: PATCH, path: "/quotes/:id")`);

const CASES: readonly Case[] = [
  ['Query.events has @access(any_of: []), which no key meets', '@access(events: true)', '@access(any_of: [])'],
  ['Quote is @stored but has no id: add id: ID!', /(type Quote [^]*?)id: ID!/, '$1'],
  ['Order.quote is a Quote, but no member quote_id of type ID refers to it', /(type Order [^]*?)quote_id: ID/, '$1'],
  ['Order.number is stored but has @graphql_only', /(type Order @[^]*?number: String!)/, '$1 @graphql_only'],
  ['Customer.requests is a list', '): RequestPage @graphql_only', '): RequestPage'],
  ['Customer.quotes takes number', /(type Customer [^]*?quotes\()/, '$1number: String '],
  ['Order.placed_at is @searchable but DateTime', /(type Order [^]*?placed_at: DateTime!)/, '$1 @searchable'],
  ['MeKey.name is @searchable', /(type MeKey [^]*?name: String!)/, '$1 @searchable'],
  ['Query.quote_totals has @totals(of', '@totals(of: "Quote"', '@totals(of: "Offer"'],
  ['has @sunset and no @deprecated', /(\): QuoteTotals)/, '$1 @sunset(since: "2026-01-01", on: "2027-01-01")'],
  ['has @sunset(on:) no later', /(\): QuoteTotals)/, '$1 @deprecated @sunset(since: "2026-01-01", on: "2026-01-01")'],
  ['Query.quote has @rest(method', '@rest(path: "/quotes/:id")', '@rest(path: "/quotes/:id", method: PATCH)'],
  ['Query.quotes has @rest(path: "/quotes/")', '@rest(path: "/quotes")', '@rest(path: "/quotes/")'],
  ['Query.quote has :number in its path but no', '@rest(path: "/quotes/:id")', '@rest(path: "/quotes/:number")'],
  ['Query.quote takes id from its path, so it must be non-null: add !', /quote\(([^)]*)id: ID!/, 'quote($1id: ID'],
  ['takes if_match, but no GET of its path reads what it returns', /open_request\(/, 'open_request(if_match: String '],
  ['Mutation.open_request has @rest(status: 404): use one of 200, 201, 202', /status: 201/, 'status: 404'],
  ['Query.it returns Int, but REST and tools answer with an object', read('it: Int @rest(path: "/it")')],
  ['Query.it returns Any, but REST', `union Any = Quote | Order ${read('it: Any @rest(path: "/it")')}`],
  ['Query.it returns [QuoteLine!], but REST and tools answer with an object', read('it: [QuoteLine!] @mcp')],
  [
    'MeKey.owner is Named, whose fields REST cannot know',
    'interface Named { name: String } extend type MeKey { owner: Named }',
  ],
  ['Tree.branches leads back to Tree', 'type Tree { leaf: ID branches: [Tree!]! } extend type MeKey { tree: Tree }'],
  ['which the tool Query.it would return', `type Tree { branches: [Tree!]! } ${read('it: Tree @mcp')}`],
  ['Quote.customer has its own @access', read('it: Quote @mcp')],
  ['MeKey.uses needs day, which REST cannot send', 'extend type MeKey { uses(day: Date!): Int }'],
  ['Hidden has only fields with', 'type Hidden { it: Int @graphql_only } extend type MeKey { hidden: Hidden }'],
  ['Query.it is non-null, so its error would remove the other fields of a GraphQL answer', read('it: Quote!')],
  ['Mutation.quote has the same name as Query.quote: rename one of them', write('quote: Quote')],
  ['MeKey.it has @constraint(required:)', 'extend type MeKey { it: String @constraint(required: true) }'],
  ['MeKey.it has @constraint(not_null:)', 'extend type MeKey { it: String @constraint(not_null: true) }'],
  ['MeKey.it has @constraint(default:), which is for input', 'extend type MeKey { it: Int @constraint(default: 1) }'],
  ['MeKey.it has @constraint(max_length:)', 'extend type MeKey { it: Plan @constraint(max_length: 1) }'],
  ['Query.organisation_usage(period:) has the default', /(organisation_usage\(period: UsagePeriod!)/, '$1 = last_year'],
  ['@rest(status:) has the default OK, which is not Int!', 'status: Int! = 200', 'status: Int! = OK'],
  ['Quote.lines has @rest, which is for', /(type Quote @[^]*?lines: \[QuoteLine!\]!)/, '$1 @rest(path: "/lines")'],
  ['Subscription.events has @rest', /(type Subscription \{[^}]*\): Event!)/, '$1 @rest(path: "/stream")'],
  ['Mutation.open_request has @totals', /(open_request\(.*\): Request)/, '$1 @totals(of: "Quote", at: "created_at")'],
  ['Query.me has @graphql_only', /(  me: Me)/, '$1 @graphql_only'],
  ['Query.me has @constraint, which is for arguments,', /(  me: Me)/, '$1 @constraint(max: 1)'],
  ['Query.quote(id:) has @filter', '  quote(id: ID!', '  quote(id: ID! @filter'],
  ['Mutation.open_request(text:) has @filter', 'open_request(text: String!', 'open_request(text: String! @filter'],
  ['Query.audit_events(action:) has @filter', /(  audit_events\(action: String)/, '$1 @filter'],
  ['Query.customers(q:) searches all members that are', '@filter(by: WORDS)', '@filter(by: WORDS, member: "name")'],
  ['Query.products(sku:) has @per_element', /(  products\(q: .*?sku: \[String!\])/, '$1 @per_element'],
  ['Mutation.create_api_key(scopes:) has @per_element', /(create_api_key\(.*?scopes: \[String!\]!)/, '$1 @per_element'],
  ['Mutation.upsert_products(products:) has @per_element', 'products: [ProductUpsert!]!', 'products: [ProductUpsert!]'],
  ['Address.line2 has @graphql_only(on', /(type Address \{[^}]*?line2: String)/, '$1 @graphql_only(on: LISTS)'],
  ['@sunset with 2027-02-30', /(\): QuoteTotals)/, '$1 @deprecated @sunset(since: "2026-01-01", on: "2027-02-30")'],
  ['@cached is defined, but nothing reads it: remove it', 'directive @cached(seconds: Int) on FIELD_DEFINITION'],
  ['Named.name has @access, which is for fields', 'interface Named { name: String @access(scope: QUOTES_READ) }'],
  ['Choice has @oneOf, which REST would not check: remove it', 'input Choice @oneOf { a: ID b: ID }'],
  ['Mutation.move(to:) takes AddressInput, whose @constraint is checked only', write('move(to: AddressInput): Quote')],
  ['Query.products has @mcp(fields', /@mcp\(fields: \["sku"[^\]]*\]/, '@mcp(fields: []'],
  ['Query.orders has @mcp(fields:) with lines', '@mcp(fields: ["number"', '@mcp(fields: ["lines", "number"'],
  ['Mutation.open_request has @mcp(fields:)', '@mcp(destructive: false)', '@mcp(destructive: false, fields: ["id"])'],
  ['Query.quote has @rest(path: "/quotes/:id-x")', '@rest(path: "/quotes/:id")', '@rest(path: "/quotes/:id-x")'],
  ['Query.quote has @rest(status', '@rest(path: "/quotes/:id")', '@rest(path: "/quotes/:id", status: 201)'],
  ['Mutation.open_request has @rest(status', /(type Request @[^]*?id: ID!)/, '$1 @graphql_only'],
  ['but Query.quote has "/quotes/:id"', write('drop(at: ID!): Quote @rest(method: DELETE, path: "/quotes/:at")')],
  ['Query.line has :id in its path more than', read('line(id: ID!): QuoteLine @rest(path: "/quotes/:id/lines/:id")')],
  ['Query.several takes ids from its path', read('several(ids: [ID!]!): QuoteLine @rest(path: "/several/:ids")')],
  ['Query.near takes address from its', read('near(address: AddressInput!): QuoteLine @rest(path: "/near/:address")')],
  ['the query of a GET cannot contain', read('near(address: AddressInput): QuoteLine @rest(path: "/near")')],
  ['query of a DELETE cannot contain', write('drop(at: [AddressInput!]!): Quote @rest(method: DELETE, path: "/near")')],
  ['Query.pairs takes of, but the query', read('pairs(of: [[Int!]!]!): QuoteLine @rest(path: "/pairs")')],
  ['Query.newer_quote takes if_match', read('newer_quote(id: ID!, if_match: String): Quote @rest(path: "/newer/:id")')],
  ['takes if_match as [String!], but a header is a string: write String', change('if_match: [String!]')],
  ['takes if_match, but Quote has no etag for GraphQL: add etag: String! @graphql_only', change('if_match: String')],
  ['takes if_match from its path', write('change_quote(if_match: String!): Quote @rest(path: "/quotes/:if_match")')],
  ['requires status, but a PATCH takes only what changes', change('status: QuoteStatus!')],
  ['(status:) is OrderStatus, but Quote.status is QuoteStatus!: use the same type', change('status: OrderStatus')],
  [
    'has the scope QUOTES_WRITE, but Mutation.upsert_products changes each',
    write('change_product(id: ID!, active: Boolean): Product @rest(method: PATCH, path: "/products/:id")'),
  ],
  ['Query.products has @mcp(fields:) with colour', '@mcp(fields: ["sku"', '@mcp(fields: ["colour"'],
  ['Query.quote has @mcp(fields:) but returns no list', /(quote\(id: ID!\): Quote)/, '$1 @mcp(fields: ["id"])'],
  ['Query.quote has @mcp(limit:) but no argument limit', /(quote\(id: ID!\): Quote)/, '$1 @mcp(limit: 10)'],
  ['Query.quotes has @mcp(limit: 101), which limit refuses', '"created_at"], limit: 10', '"created_at"], limit: 101'],
  ['Query.api_keys is for users but has @mcp', /(api_keys\([^)]*\([^)]*\)[^]*?\): ApiKeyPage)/, '$1 @mcp'],
  ['takes idempotency_key', 'open_request(text: String!', 'open_request(idempotency_key: String, text: String!'],
  ['Quote.id has @mcp, which is for root fields: remove it', /(type Quote [^]*?)id: ID!/, '$1id: ID! @mcp'],
  // stored types, their lists and writes
  ['Query.orders has a limit with default', /(  orders\(q.*?)default: 20/, '$1default: 50'],
  ['Customer.quotes has a limit with default', /(type Customer [^]*?quotes\(.*?)default: 20/, '$1default: 10'],
  ['Query.audit_events has a limit with default', /(audit_events\(.*?)default: 20/, '$1default: 50'],
  ['Query.orders is a list without limit: add limit', /(  orders\(q.*?), limit: Int @constraint\([^)]*\)/, '$1'],
  ['Query.orders is a list without cursor', /(  orders\(q.*?), cursor: String @constraint\([^)]*\)/, '$1'],
  ['sorts by number, which lists omit', /(type Quote [^]*?number: String!)/, '$1 @graphql_only(on: LISTS)'],
  ['Query.requests(sort:) takes any text', /(  requests\(q.*?sort: String) @constraint\([^)]*\)/, '$1'],
  ['Query.requests(sort:) is not a String', /(  requests\(q.*?sort: )String/, '$1[String!]'],
  ['is a second SINCE of created_at, beside', 'member: "created_at", by: BEFORE', 'member: "created_at", by: SINCE'],
  ['Query.quote_totals takes status', /(quote_totals\()/, '$1status: QuoteStatus @filter '],
  ['Query.quote_totals takes from as Date', /(quote_totals\(.*?from: )DateTime/, '$1Date'],
  ['rows with fee_minor, but Quote has no', /(type QuoteTotal \{[^}]*)subtotal_minor: Minor!/, '$1fee_minor: Minor!'],
  ['QuoteLine.orders leads to the type Order, but only', /(type QuoteLine \{)/, '$1 orders: OrderPage @graphql_only'],
  ['Order.quote is non-null', 'quote: Quote @graphql_only', 'quote: Quote! @graphql_only'],
  ['Order.quote takes number', 'quote: Quote @graphql_only', 'quote(number: String): Quote @graphql_only'],
  ['Order.quote is referred to by quote_id', 'quote_id: ID', 'quote_id: ID @graphql_only(on: LISTS)'],
  ['Order.quote has @graphql_only(on', 'quote: Quote @graphql_only', 'quote: Quote @graphql_only(on: LISTS)'],
  ['Customer.requests has @graphql_only(on', '): RequestPage @graphql_only', '): RequestPage @graphql_only(on: LISTS)'],
  ['Product is @stored, but no Query.products lists it', /  products\(q.*/, ''],
  ['Query.order takes id as ID: write id: ID!', 'order(id: ID!)', 'order(id: ID)'],
  ['QuoteLine.qty is a Float without', /(type QuoteLine [^}]*qty: Float! @constraint\(min: 0), max: 1000000000/, '$1'],
  ['Product.uom takes long', /(type Product [^}]*)uom: String/, '$1uom(long: Boolean): String'],
  ['QuoteLine.uom takes long', /(type QuoteLine [^}]*)uom: String/, '$1uom(long: Boolean): String'],
  ['Product.etag is the entity tag: write etag', /(type Product [^}]*)uom: String/, '$1etag: String! uom: String'],
  ['but lists are sorted by it', /(type Request [^}]*created_at: DateTime!)/, '$1 @graphql_only(on: LISTS)'],
  ['Product has @stored(unique', /(type Product [^}]*sku: String)!/, '$1'],
  ['Product has @stored(unique', /(type Product [^}]*sku: )String!/, '$1[String!]!'],
  ['Product has a unique index of sku', /(@stored\(collection: "products"), unique: "sku"/, '$1'],
  ['src/auth/scopes.ts has QUOTES_WRITE, which enum Scope lacks', /(enum Scope \{[^}]*)QUOTES_WRITE/, '$1'],
  ['src/auth/roles.ts has admin, which enum MemberRole lacks', /(enum MemberRole \{[^}]*)admin/, '$1'],
  ['src/auth/plans.ts has enterprise, which enum Plan lacks', /(enum Plan \{[^}]*)enterprise/, '$1'],
  ['enum McpAccess has admin, which src/auth/mcpAccess.ts lacks', /(enum McpAccess \{)/, '$1 admin'],
  ['enum TotalsGroup has WEEK, which src/stored/totals.ts lacks', /(enum TotalsGroup \{)/, '$1 WEEK'],
  ['src/schema/upserts.ts has unchanged', /(enum UpsertOutcome \{[^}]*)unchanged/, '$1'],
  ['the description of PRODUCTS_READ', /(enum Scope \{\s*)PRODUCTS_READ/, '$1"products:eat: Eat." PRODUCTS_READ'],
  ['but Product.lead_time_days is Int', /(input ProductUpsert \{[^]*?lead_time_days: )Int/, '$1String'],
  ['but Product.category is String', /(input ProductUpsert \{[^}]*category: )String/, '$1[String!]'],
  ['but Contact.primary is Boolean!', /(input ContactInput \{[^}]*primary: )Boolean/, '$1String'],
  ['Product.name excludes with max_length: 200', /(input ProductUpsert \{[^]*?max_length: )200/, '$1300'],
  ['excludes with min: 0', /(input ProductUpsert \{[^]*?unit_price_minor: Minor) @constraint\(min: 0\)/, '$1'],
  ['ContactInput.name takes what Contact.name', /(input ContactInput \{[^}]*max_length: 200), pattern: "\\\\S"/, '$1'],
  ['CustomerUpsert.email takes', /(input CustomerUpsert \{[^}]*email: String @constraint\()format: "email", /, '$1'],
  ['open_request(subject:) takes what Request.subject', /(open_request\(.*?subject: [^)]*max_length: )200/, '$1300'],
  ['rows whose status is QuoteStatus!', /(type QuoteTotal \{[^}]*status: QuoteStatus)/, '$1!'],
  ['rows whose status is OrderStatus', /(type QuoteTotal \{[^}]*status: )QuoteStatus/, '$1OrderStatus'],
  ['Mutation.upsert_products upserts a', /(products: \[ProductUpsert!\]! @constraint\([^)]*\)) @per_element/, '$1'],
  ['Mutation.upsert_products takes notify', /(upsert_products\()/, '$1notify: Boolean '],
  ['Mutation.upsert_products takes atomic as String', /(upsert_products\([^)]*\)[^)]*atomic: )Boolean/, '$1String'],
  ['Request.message_count has @untrusted', 'message_count: Int!', 'message_count: Int! @untrusted'],
];

const note = (text: string): string => write(`note(it: ${text}): Quote`);

/** Sentences about the argument of a write, by its type. */
const NOTES: readonly (readonly [sentence: string, type: string])[] = [
  ['has @constraint(min: 5, max: 1), which no value meets: change one of them', 'Int @constraint(min: 5, max: 1)'],
  ['has @constraint(pattern:), which has no effect on Int: remove it', 'Int @constraint(pattern: "x")'],
  ['has @constraint(min:), which has no effect on String: remove it', 'String @constraint(min: 1)'],
  ['has @constraint(max_length:), which has no effect on Boolean: remove it', 'Boolean @constraint(max_length: 1)'],
  ['has @constraint(format:), which has no effect on ID: remove it', 'ID @constraint(format: "email")'],
  ['has @constraint(pattern: "["), which is not a regular expression', 'String @constraint(pattern: "[")'],
  ['has @constraint(pattern: "\\-"), which is not a regular expression', 'String @constraint(pattern: "\\\\-")'],
  ['has @constraint(format: "phone"), which nothing checks', 'String @constraint(format: "phone")'],
  ['has @constraint(one_of: []), which no value meets: name the values', 'String @constraint(one_of: [])'],
  ['has @constraint(one_of:) with "long"', 'String @constraint(one_of: ["a", "long"], max_length: 2)'],
  ['has @constraint(default: 9), which its max refuses', 'Int @constraint(min: 1, max: 5, default: 9)'],
  ['has the default 0, which its min refuses: change one of them', 'Int = 0 @constraint(min: 1, max: 5)'],
  ['has the default "c", which its one_of refuses', 'String = "c" @constraint(one_of: ["a", "b"])'],
  ['has the default ["abc"], which its max_length refuses', '[String!] = ["abc"] @constraint(max_length: 2)'],
  ['has the default "x", which its pattern refuses', 'String = "x" @constraint(pattern: "^[A-Z]$")'],
  ['has the default 3 and @constraint(default: 2)', 'Int = 3 @constraint(min: 1, max: 5, default: 2)'],
  ['has @constraint(default:), but Int! is always given: remove one of them', 'Int! @constraint(default: 2)'],
  ['has @constraint(not_null:), but String! is always given', 'String! @constraint(not_null: true)'],
  ['has @constraint(required:), which is for fields of input types', 'String @constraint(required: true)'],
];

test.each(CASES.map((one) => [one[0], one] as const))('%s is reported', (sentence, one) => {
  expect(lintOf(broken(one))).toContain(sentence);
});

test.each(NOTES)('an argument %s is reported', (sentence, type) => {
  expect(lintOf(parse(`${SDL}\n${note(type)}`))).toContain(`Mutation.note(it:) ${sentence}`);
});

test('the published schema has no errors', () => {
  expect(lintOf(parse(SDL))).toBe('');
});

test.each([
  read('of_year(year: Int!): QuoteLine @rest(path: "/years/:year")'),
  read('of_status(status: QuoteStatus!): QuoteLine @rest(path: "/statuses/:status")'),
  read('newest_quote: QuoteLine @rest(path: "/quotes/newest")'),
  write('note(by: RequestContactInput!): QuoteLine @rest(method: POST, path: "/notes")'),
  write('recount: QuoteLine @rest(method: POST, path: "/recounts", status: 202)'),
  change('status: QuoteStatus @constraint(not_null: true)'),
  'type Tree { branches: [Tree!]! } extend type MeKey { tree: Tree @graphql_only }',
  'extend type MeKey { first: MeOrganisation second: MeOrganisation uses(day: Date): Int }',
  'input Nested { inner: [Nested!] }',
  'extend type Product { etag: String! @graphql_only }',
  note('Int = 3 @constraint(min: 1, max: 5, default: 3)'),
  note('Int! = 3 @constraint(min: 1, max: 5)'),
  note('Float @constraint(min: -0.5, max: 1e300)'),
  note('[QuoteStatus!]! @constraint(min_items: 0, max_items: 4)'),
  note('String @constraint(min_length: 1, max_length: 1, pattern: "^\\\\p{Lu}$", format: "uri")'),
  note('[String!] = ["ab"] @constraint(max_items: 2, max_length: 2, one_of: ["ab"])'),
  note('DateTime @constraint(max_length: 24)'),
])('nothing is said of %s', (sdl) => {
  expect(lintOf(parse(`${SDL}\n${sdl}`))).toBe('');
});

test.each<[sentence: string, index: CheckedResource['indexes'][number]]>([
  ['Product has a unique index of name, but', { on: { name: 1 }, options: { unique: true } }],
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

/* What a merge does can only be found by trying it. */

/** The SDL with a member added to the stored type and to the input of its elements. */
function both(member: string, input = member): ReturnType<typeof broken> {
  const sdl = SDL.replace(/(type Product @stored[^{]*\{)/, `$1 ${member}`);
  return parse(sdl.replace(/(input ProductUpsert \{)/, `$1 ${input}`));
}

test.each<[sentence: string, document: ReturnType<typeof broken>]>([
  ['ProductUpsert.weight is not stored by Mutation.upsert_products', both('weight: Int')],
  ['Product.weight is lost when Mutation.upsert_products changes another member: keep that', both('weight: Int', '')],
  ['Mutation.upsert_products could store null as Product.weight: require it', both('weight: Int!', '')],
  [
    'billing_address is not stored',
    broken(['', /(input CustomerUpsert \{[^}]*billing_address: )AddressInput/, '$1String']),
  ],
  ['could store null as Address.city', broken(['', /(input AddressInput [^}]*city: .*?)required: true, /, '$1'])],
])('%s: a merge that loses a member is found', (sentence, document) => {
  expect(lintOf(document)).toContain(sentence);
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
])('%s: another merge is found', (sentence, merge) => {
  expect(lintOf(parse(SDL), { own: merging(merge) })).toContain(sentence);
});
