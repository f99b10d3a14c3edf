import { parse } from 'graphql';
import { broken, type Case, lintOf, SDL } from '../support/brokenSchema';

/* Breaks the published schema in ways that neither show nor lose data; the linter must say what to write where. */

/** A read and a write, as a field of Query and of Mutation. */
const read = (field: string): string => `extend type Query { ${field} @access(scope: QUOTES_READ) }`;
const write = (field: string): string => `extend type Mutation { ${field} @access(scope: QUOTES_WRITE) }`;

const CASES: readonly Case[] = [
  ['Query.events has @access(any_of: []), which no key meets', '@access(events: true)', '@access(any_of: [])'],
  ['Quote is @stored but has no id: add id: ID!', /(type Quote [^]*?)id: ID!/, '$1'],
  ['Message is @stored but has no created_at', /(type Message [^]*?)created_at: DateTime!/, '$1'],
  ['Order.quote is a Quote, but no member quote_id of type ID refers to it', /(type Order [^]*?)quote_id: ID/, '$1'],
  ['Order.quote refers to another object', 'quote: Quote @graphql_only', 'quote: Quote'],
  ['Customer.requests is a list', '): RequestPage @graphql_only', '): RequestPage'],
  ['Customer.quotes takes number', /(type Customer [^]*?quotes\()/, '$1number: String '],
  [
    'Request is searched by Query.requests(q:), but no member of Request is @searchable',
    /(type Request [^]*?) @searchable/,
    '$1',
  ],
  ['Order.placed_at is @searchable but DateTime', /(type Order [^]*?placed_at: DateTime!)/, '$1 @searchable'],
  [
    'MeKey.name is @searchable, but no stored type contains a MeKey',
    /(type MeKey [^]*?name: String!)/,
    '$1 @searchable',
  ],
  ['Query.quote_totals has @totals(of', '@totals(of: "Quote"', '@totals(of: "Offer"'],
  [
    'Query.quote_totals has @sunset and no @deprecated: add the reason, which says what to use instead',
    /(\): QuoteTotals)/,
    '$1 @sunset(since: "2026-01-01", on: "2027-01-01")',
  ],
  [
    'Query.quote_totals has @sunset with soon: write days as 2026-11-21',
    /(\): QuoteTotals)/,
    '$1 @deprecated @sunset(since: "2026-01-01", on: "soon")',
  ],
  [
    'Query.quote_totals has @sunset(on:) no later than since: give callers time between them',
    /(\): QuoteTotals)/,
    '$1 @deprecated @sunset(since: "2026-01-01", on: "2025-01-01")',
  ],
  ['Query.quote has @rest(method', '@rest(path: "/quotes/:id")', '@rest(path: "/quotes/:id", method: PATCH)'],
  ['Query.quotes has @rest(path: "/quotes/")', '@rest(path: "/quotes")', '@rest(path: "/quotes/")'],
  [
    'Query.quote has :number in its path but no argument number',
    '@rest(path: "/quotes/:id")',
    '@rest(path: "/quotes/:number")',
  ],
  ['Query.quote takes id from its path, so it must be non-null: add !', /quote\(([^)]*)id: ID!/, 'quote($1id: ID'],
  [
    'Mutation.open_request takes if_match, but no GET of its path reads what it returns',
    /open_request\(/,
    'open_request(if_match: String ',
  ],
  ['Mutation.open_request has @rest(status: 404): use one of 200, 201, 202', /status: 201/, 'status: 404'],
  ['Query.it returns Int, but REST and tools answer with an object', read('it: Int @rest(path: "/it")')],
  [
    'Query.it returns Any, but REST and tools answer with an object: return a type that contains it',
    'union Any = Quote | Order extend type Query { it: Any @rest(path: "/it") @access(scope: QUOTES_READ) }',
  ],
  ['Query.it returns [QuoteLine!], but REST and tools answer with an object', read('it: [QuoteLine!] @mcp')],
  [
    'MeKey.owner is Named, of which REST cannot know the fields: add @graphql_only',
    'interface Named { name: String } extend type MeKey { owner: Named }',
  ],
  ['Tree.branches leads back to Tree', 'type Tree { leaf: ID branches: [Tree!]! } extend type MeKey { tree: Tree }'],
  [
    'Tree.branches leads back to Tree, which the tool Query.it would return without end: let Query.it return another type',
    'type Tree { branches: [Tree!]! @graphql_only } extend type Query { it: Tree @mcp @access(scope: QUOTES_READ) }',
  ],
  [
    'Quote.customer has its own @access, but the tool Query.it returns every field to all who may call it: let Query.it return another type',
    read('it: Quote @mcp'),
  ],
  ['MeKey.uses needs day, which REST cannot send', 'extend type MeKey { uses(day: Date!): Int }'],
  [
    'Hidden has only fields with @graphql_only, but Query.me returns it: remove one',
    'type Hidden { it: Int @graphql_only } extend type MeKey { hidden: Hidden }',
  ],
  ['Query.it is non-null, so that its error would take the other fields of a GraphQL answer', read('it: Quote!')],
  ['Mutation.quote has the same name as Query.quote: rename one of them', write('quote: Quote')],
  ['MeKey.it has @constraint(required:)', 'extend type MeKey { it: String @constraint(required: true) }'],
  ['MeKey.it has @constraint(not_null:)', 'extend type MeKey { it: String @constraint(not_null: true) }'],
  ['MeKey.it has @constraint(default:), which is for input', 'extend type MeKey { it: Int @constraint(default: 1) }'],
  ['MeKey.it has @constraint(max_length:)', 'extend type MeKey { it: Plan @constraint(max_length: 1) }'],
  [
    'Query.organisation_usage(period:) has the default last_year, which is not UsagePeriod!: change or remove it',
    /(organisation_usage\(period: UsagePeriod!)/,
    '$1 = last_year',
  ],
  ['@rest(status:) has the default OK, which is not Int!', 'status: Int! = 200', 'status: Int! = OK'],
  [
    'Quote.lines has @rest, which is for fields of Query and Mutation: remove it',
    /(type Quote @[^]*?lines: \[QuoteLine!\]!)/,
    '$1 @rest(path: "/lines")',
  ],
  ['Subscription.events has @rest', /(type Subscription \{[^}]*\): Event!)/, '$1 @rest(path: "/stream")'],
  [
    'Quote.number has @sunset, which is for fields of Query and Mutation: remove it',
    /(type Quote @[^]*?number: String!)/,
    '$1 @deprecated(reason: "Use id.") @sunset(since: "2026-01-01", on: "2027-01-01")',
  ],
  ['Mutation.open_request has @totals', /(open_request\(.*\): Request)/, '$1 @totals(of: "Quote", at: "created_at")'],
  ['Query.me has @graphql_only', /(  me: Me)/, '$1 @graphql_only'],
  [
    'Query.me has @constraint, which is for arguments, and fields of input and object types: remove it',
    /(  me: Me)/,
    '$1 @constraint(max: 1)',
  ],
  ['Query.quote(id:) has @filter', '  quote(id: ID!', '  quote(id: ID! @filter'],
  ['Mutation.open_request(text:) has @filter', 'open_request(text: String!', 'open_request(text: String! @filter'],
  ['Query.audit_events(action:) has @filter', /(  audit_events\(action: String)/, '$1 @filter'],
  [
    'Query.customers(q:) searches all members that are @searchable: remove member from its @filter',
    '@filter(by: WORDS)',
    '@filter(by: WORDS, member: "name")',
  ],
  ['Query.products(sku:) has @per_element', /(  products\(q: .*?sku: \[String!\])/, '$1 @per_element'],
  [
    'Mutation.create_api_key(scopes:) has @per_element but is [String!]!: its elements are objects, as [Input!]!',
    /(create_api_key\(.*?scopes: \[String!\]!)/,
    '$1 @per_element',
  ],
  [
    'Mutation.upsert_products(products:) has @per_element but is [ProductUpsert!]: its elements are objects, as [ProductUpsert!]!',
    'products: [ProductUpsert!]!',
    'products: [ProductUpsert!]',
  ],
  ['Address.line2 has @graphql_only(on', /(type Address \{[^}]*?line2: String)/, '$1 @graphql_only(on: LISTS)'],
  [
    'Query.quote_totals has @sunset with 2027-02-30: write days as 2026-11-21',
    /(\): QuoteTotals)/,
    '$1 @deprecated @sunset(since: "2026-01-01", on: "2027-02-30")',
  ],
  ['@cached is defined, but nothing reads it: remove it', 'directive @cached(seconds: Int) on FIELD_DEFINITION'],
  [
    'Named.name has @access, which is for fields of object types: remove it',
    'interface Named { name: String @access(scope: QUOTES_READ) }',
  ],
  ['Choice has @oneOf, which REST would not check: remove it', 'input Choice @oneOf { a: ID b: ID }'],
  [
    'Mutation.move(to:) takes AddressInput, whose @constraint is checked only in elements of Mutation.upsert_customers(customers:): give it an input type of its own',
    write('move(to: AddressInput): Quote'),
  ],
  ['Query.products has @mcp(fields', /@mcp\(fields: \["sku"[^\]]*\]/, '@mcp(fields: []'],
  ['Query.orders has @mcp(fields:) with lines', '@mcp(fields: ["number"', '@mcp(fields: ["lines", "number"'],
  ['Mutation.open_request has @mcp(fields:)', '@mcp(destructive: false)', '@mcp(destructive: false, fields: ["id"])'],
  ['Query.quote has @rest(path: "/quotes/:id-x")', '@rest(path: "/quotes/:id")', '@rest(path: "/quotes/:id-x")'],
  ['Query.quote has @rest(status', '@rest(path: "/quotes/:id")', '@rest(path: "/quotes/:id", status: 201)'],
  ['Mutation.open_request has @rest(status', '@rest(path: "/requests/:id")', '@rest(path: "/threads/:id")'],
  ['Mutation.open_request has @rest(status', /(  request\(id: ID!\)): Request /, '$1: Quote '],
  ['Mutation.upsert_products has @rest(status', 'path: "/products/bulk"', 'path: "/products/bulk", status: 201'],
  ['Mutation.open_request has @rest(status', /(type Request @[^]*?id: ID!)/, '$1 @graphql_only'],
  [
    'Mutation.drop_quote has @rest(path: "/quotes/:number"), but Query.quote has "/quotes/:id": use the same names, since a path has one set of parameters',
    write('drop_quote(number: ID!): Quote @rest(method: DELETE, path: "/quotes/:number")'),
  ],
  [
    'Query.line has :id in its path more than once: give each its own argument',
    read('line(id: ID!): QuoteLine @rest(path: "/quotes/:id/lines/:id")'),
  ],
  ['Query.several takes ids from its path', read('several(ids: [ID!]!): QuoteLine @rest(path: "/several/:ids")')],
  [
    'Query.near takes address from its path, which cannot contain AddressInput!: use a scalar or an enum',
    read('near(address: AddressInput!): QuoteLine @rest(path: "/near/:address")'),
  ],
  [
    'Query.near takes address, but the query of a GET cannot contain AddressInput: use scalars, enums or lists of them',
    read('near(address: AddressInput): QuoteLine @rest(path: "/near")'),
  ],
  [
    'Mutation.drop_all takes at, but the query of a DELETE cannot contain [AddressInput!]!: use scalars, enums or lists of them',
    write('drop_all(at: [AddressInput!]!): Quote @rest(method: DELETE, path: "/near")'),
  ],
  [
    'Query.pairs takes of, but the query of a GET cannot contain [[Int!]!]!: use scalars, enums or lists of them',
    read('pairs(of: [[Int!]!]!): QuoteLine @rest(path: "/pairs")'),
  ],
  [
    'Query.newer_quote takes if_match, which is for writes: remove it',
    read('newer_quote(id: ID!, if_match: String): Quote @rest(path: "/newer/:id")'),
  ],
  [
    'Mutation.change_quote takes if_match as [String!], but a header is a text: write String',
    write('change_quote(id: ID!, if_match: [String!]): Quote @rest(method: PATCH, path: "/quotes/:id")'),
  ],
  [
    'Mutation.change_quote takes if_match, but Quote has no etag for GraphQL: add etag: String! @graphql_only',
    write('change_quote(id: ID!, if_match: String): Quote @rest(method: PATCH, path: "/quotes/:id")'),
  ],
  [
    'Mutation.change_quote takes if_match from its path, but REST takes it from a header: rename it',
    write('change_quote(if_match: String!): Quote @rest(method: PATCH, path: "/quotes/:if_match")'),
  ],
  [
    'Mutation.change_quote requires status, but a PATCH takes only what changes: make it nullable, with @constraint(not_null: true) if null is no value',
    write('change_quote(id: ID!, status: QuoteStatus!): Quote @rest(method: PATCH, path: "/quotes/:id")'),
  ],
  [
    'Mutation.change_quote takes null for status, but Quote.status is never null: add @constraint(not_null: true)',
    write('change_quote(id: ID!, status: QuoteStatus): Quote @rest(method: PATCH, path: "/quotes/:id")'),
  ],
  [
    'Mutation.change_quote(status:) is OrderStatus, but Quote.status is QuoteStatus!: use the same type',
    write(
      'change_quote(id: ID!, status: OrderStatus @constraint(not_null: true)): Quote @rest(method: PATCH, path: "/quotes/:id")',
    ),
  ],
  [
    'Mutation.change_product has the scope CUSTOMERS_WRITE, but Mutation.upsert_products changes each Product with PRODUCTS_WRITE: use the same scope',
    'extend type Mutation { change_product(id: ID!, active: Boolean @constraint(not_null: true)): Product @rest(method: PATCH, path: "/products/:id") @access(scope: CUSTOMERS_WRITE) }',
  ],
  ['Query.products has @mcp(fields:) with colour', '@mcp(fields: ["sku"', '@mcp(fields: ["colour"'],
  ['Query.quote has @mcp(fields:) but returns no list', /(quote\(id: ID!\): Quote)/, '$1 @mcp(fields: ["id"])'],
  ['Query.quote has @mcp(limit:) but no argument limit', /(quote\(id: ID!\): Quote)/, '$1 @mcp(limit: 10)'],
  ['Query.quotes has @mcp(limit: 101), which limit refuses', '"created_at"], limit: 10', '"created_at"], limit: 101'],
  ['Query.api_keys is for users but has @mcp', /(api_keys\([^)]*\([^)]*\)[^]*?\): ApiKeyPage)/, '$1 @mcp'],
  [
    'Mutation.open_request takes idempotency_key, which tools use themselves: rename it',
    'open_request(text: String!',
    'open_request(idempotency_key: String, text: String!',
  ],
  ['Quote.id has @mcp, which is for root fields: remove it', /(type Quote [^]*?)id: ID!/, '$1id: ID! @mcp'],
];

const note = (text: string): string => write(`note(it: ${text}): Quote`);

/** Sentences about the argument of a write, by its type. */
const NOTES: readonly (readonly [sentence: string, type: string])[] = [
  ['has @constraint(min: 5, max: 1), which nothing meets: change one of them', 'Int @constraint(min: 5, max: 1)'],
  ['has @constraint(pattern:), which has no effect on Int: remove it', 'Int @constraint(pattern: "x")'],
  ['has @constraint(min:), which has no effect on String: remove it', 'String @constraint(min: 1)'],
  ['has @constraint(max_length:), which has no effect on Boolean: remove it', 'Boolean @constraint(max_length: 1)'],
  ['has @constraint(format:), which has no effect on ID: remove it', 'ID @constraint(format: "email")'],
  ['has @constraint(pattern: "["), which is not a regular expression', 'String @constraint(pattern: "[")'],
  ['has @constraint(pattern: "\\-"), which is not a regular expression', 'String @constraint(pattern: "\\\\-")'],
  ['has @constraint(format: "phone"), which nothing checks', 'String @constraint(format: "phone")'],
  ['has @constraint(one_of: []), which nothing meets: name the values', 'String @constraint(one_of: [])'],
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

test.each(CASES.map((one) => [one[0], one] as const))('%s is said by the linter', (sentence, one) => {
  expect(lintOf(broken(one))).toContain(sentence);
});

test.each(NOTES)('an argument %s is said by the linter', (sentence, type) => {
  expect(lintOf(parse(`${SDL}\n${note(type)}`))).toContain(`Mutation.note(it:) ${sentence}`);
});

test('nothing is said of the published schema', () => {
  expect(lintOf(parse(SDL))).toBe('');
});

test.each([
  read('of_year(year: Int!): QuoteLine @rest(path: "/years/:year")'),
  read('of_status(status: QuoteStatus!): QuoteLine @rest(path: "/statuses/:status")'),
  read('newest_quote: QuoteLine @rest(path: "/quotes/newest")'),
  write('note(by: RequestContactInput!): QuoteLine @rest(method: POST, path: "/notes")'),
  write('recount: QuoteLine @rest(method: POST, path: "/recounts", status: 202)'),
  write(
    'change_quote(id: ID!, status: QuoteStatus @constraint(not_null: true)): Quote @rest(method: PATCH, path: "/quotes/:id")',
  ),
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
