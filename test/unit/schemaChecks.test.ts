import { parse } from 'graphql';
import { refuseErrors } from '../../src/schema/checks';
import { published } from '../../src/schema/model';
import { broken, type Case, errorsOf, SDL } from '../support/brokenSchema';

/* Breaks the published schema in one way after another; the server must refuse to start, and say what to change where. */

const NUMBERED = `extend type Query {
  numbered_quote(number: ID!): Quote @rest(path: "/quotes/:number") @access(scope: QUOTES_READ)
}`;

const OPEN = 'open_request(note: String @constraint';
const change = (args: string): string =>
  `extend type Mutation {
    change_quote(id: ID!, ${args}): Quote @rest(method: PATCH, path: "/quotes/:id") @access(scope: QUOTES_WRITE)
  }`;

/** The rules that test/unit/ownSchema.test.ts does not break in the folder of a user. */
const CASES: readonly Case[] = [
  [
    'Query.customers has @mcp(fields:) with emial, which its rows lack: remove or correct it',
    '@mcp(fields: ["external_ref", "name", "email", "phone"]',
    '@mcp(fields: ["external_ref", "name", "emial", "phone"]',
  ],
  [
    'Mutation.quote has the name of Query.quote: use another name',
    'extend type Mutation { quote(id: ID!): Quote @rest(method: POST, path: "/quotes/:id/x") @access(scope: QUOTES_WRITE) }',
  ],
  [
    'Query.any_quote has @aggregates, but returns each Quote: remove it',
    'extend type Query { any_quote: Quote @aggregates @access(scope: QUOTES_READ) }',
  ],
  [
    'Product.metadata takes any number of pairs: add @constraint(max_items: 50)',
    /(type Product @[^]*?metadata: \[MetadataPair!\]!) @constraint\(max_items: 50\)/,
    '$1',
  ],
  ['Product.metadata is [MetadataPair!]: metadata is', /(type Product @[^]*?metadata: \[MetadataPair!\])!/, '$1'],
  [
    'Product.notes is [MetadataPair!]!: metadata is metadata: [MetadataPair!]! of a type with @stored',
    'extend type Product { notes: [MetadataPair!]! @constraint(max_items: 50) }',
  ],
  [
    'Query.products(category:) is @filter(by: METADATA), but category is not',
    /(products\(q[^]*?category: String @constraint\(max_length: 100\) @filter)/,
    '$1(by: METADATA)',
  ],
  [
    'Query.customers(email:) filters by contact.email, which is no String of its rows',
    '"email", "contacts.email"',
    '"email", "contact.email"',
  ],
  [
    'Query.customers(email:) filters by email, whose words are not stored',
    'email: String @constraint(format: "email", max_length: 254) @searchable',
    'email: String @constraint(format: "email", max_length: 254)',
  ],
  ['Query.customers(email:) filters by contacts, which is no', '"email", "contacts.email"', '"contacts"'],
  [
    'Query.customers(metadata:) takes texts without a colon: add @constraint(pattern:)',
    /(metadata: \[String!\]\s+@constraint\([^)]*?), pattern: "[^"]*"/,
    '$1',
  ],
  ['enum Scope has FOR_ADMIN_: name what it is for and what it allows, such as', 'extend enum Scope { FOR_ADMIN_ }'],
  ['QuoteItem is what the rows in lists of Quote are called in OpenAPI', 'type QuoteItem { position: Int }'],
  ['Fault is what errors are called in OpenAPI: use another name', 'type Fault { position: Int }'],
  [
    'ChangedQuote is what the answers to changes of Quote are called',
    `${change('note: String')} type ChangedQuote { a: Int }`,
  ],
  [
    'PatchQuotesIdBody is what the body of PATCH /quotes/:id is called',
    `${change('note: String')} enum PatchQuotesIdBody { A }`,
  ],
  ["QuoteLineWrite is what operators' writes of QuoteLine are called", 'type QuoteLineWrite { position: Int }'],
  ["QuoteName is what a part of operators' writes of Quote is called", 'type QuoteName { position: Int }'],
  [
    'Note is exported and imported as REST has it, but no route answers with it: add @rest(path: "/notes") to Query.notes',
    `type Note @stored(collection: "notes") { id: ID! created_at: DateTime! updated_at: DateTime! }
     type NotePage { data: [Note!]! has_more: Boolean! next_cursor: String }
     extend type Query { notes(cursor: String): NotePage @access(scope: QUOTES_READ) }`,
  ],
  [
    'Note is @stored but nothing says which scope reads it: add notes: NotePage with @access(scope:) to Query',
    `type Note @stored(collection: "notes") {
      id: ID!
      created_at: DateTime!
      updated_at: DateTime!
      attachments: [Attachment!]! @constraint(max_items: 20)
    }
    extend enum Scope { NOTES_READ NOTES_WRITE } extend type Query { note(id: ID!): Note @rest(path: "/notes/:id") @access(scope: NOTES_READ) }`,
  ],
  [
    'Note.attachments is of a part of Order: add attachments to Order, or updated_at to Note',
    `type Note @stored(collection: "notes") { id: ID! order_id: ID! attachments: [Attachment!]! @constraint(max_items: 20) }
    extend enum Scope { NOTES_READ NOTES_WRITE } extend type Query { note(id: ID!): Note @rest(path: "/notes/:id") @access(scope: NOTES_READ) }`,
  ],
  ['enum FilterBy has AFTER, which src/schema/sdl.ts lacks', 'extend enum FilterBy { AFTER }'],
  ['Query.keys is for users but has @rest', /(keys\([^]*?\): ApiKeyPage)/, '$1 @rest(path: "/keys")'],
  ['RequestContactInput.role is no member of RequestContact', /(input RequestContactInput \{)/, '$1 role: String'],
  ['has @access(scope:, any_of:)', '@access(events: true)', '@access(scope: ORDERS_READ, any_of: [PRODUCTS_READ])'],
  ['Query.order_totals has @totals(at: "placed_on"), but Order has no such', 'at: "placed_at"', 'at: "placed_on"'],
  ['Query.order_totals has @totals(of: "Sale"), which is not', 'of: "Order", at', 'of: "Sale", at'],
  ['Query.customers(sort:) sorts by colour, which its rows do not have', '"name", "-name"', '"colour"'],
  ['Query.customers(sort:) sorts by id, which no rows', '"name", "-name"', '"id"'],
  ['Query.customers(sort:) sorts by contacts, which is not a single', '"name", "-name"', '"contacts"'],
  ['Product.uom has @default(value: 1), which is not String!', '@default(value: "each")', '@default(value: 1)'],
  ['Product.uom has @default with neither', '@default(value: "each")', '@default'],
  [
    'Mutation.update_product takes null for name, but Product.name is never null: add @constraint(not_null: true)',
    /(update_product\([^]*?name: String @constraint\()not_null: true, /,
    '$1',
  ],
  [
    'ContactInput.name may be left out, but Contact.name is never null: add @constraint(required: true), or @default to',
    /(input ContactInput \{[^]*?name: String @constraint\()required: true, /,
    '$1',
  ],
  [
    'ContactChange.name may be left out, but Contact.name is never null',
    /(input ContactChange \{[^]*?name: String)!/,
    '$1',
  ],
  [
    'Contact.name is never null, but ContactInput does not set it: add it there',
    /(input ContactInput \{[^]*?)name: [^)]*\)/,
    '$1',
  ],
  ['Customer.tier is never null, but CustomerUpsert does not set it', 'extend type Customer { tier: Int! }'],
  [
    'Message has two indexes with the name m: give',
    'extend type Message @index(on: ["body"], name: "m") @index(on: ["author"], name: "m")',
  ],
  ['Message has @index(on: []): name a member', 'extend type Message @index(on: [])'],
  [
    'Message has @index(on: "-body") of a member that it has: remove it',
    'extend type Message @index(on: ["body", "-body"])',
  ],
  [
    'Message has two indexes on body: remove one of them',
    'extend type Message @index(on: ["body"], name: "m") @index(on: ["body"])',
  ],
  ['Contact has @index, but is not @stored', 'extend type Contact @index(on: ["name"])'],
  ['Quote.customer leads to the type Customer', /(type Quote [^]*?) @access\(scope: CUSTOMERS_READ\)/, '$1'],
  ['Customer.quotes(sort:) has no effect on a list that is', /(type Customer [^]*?  quotes\()/, '$1sort: String, '],
  ['Customer.quotes has a limit without min, max', /(  quotes\([^]*?limit: Int) @constraint\([^)]*\)/, '$1'],
  ['Mutation.update_request(if_match:) is never null', /(update_request\([^)]*if_match: String)/, '$1!'],
  [
    'Mutation.update_request(paid_on:) is no member of Request, which',
    'update_request(',
    'update_request(paid_on: Date, ',
  ],
  [
    'takes null for status, but Request.status',
    /(update_request\([^]*?status: RequestStatus) @constraint\([^)]*\)/,
    '$1',
  ],
  ['nothing checks the scalar Money', 'scalar Money'],
  ['OrderLine.product has no resolver', /(type OrderLine \{)/, '$1 product: Product @access(scope: PRODUCTS_READ)'],
  ['Query.numbered_quote has the same route as Query.quote', NUMBERED],
  ['Query.order_totals has @access without a scope', /(  order_totals\(.*@access)\(scope: ORDERS_READ\)/, '$1'],
  ['Mutation.open_request has @access without a scope', /(  open_request\(.*@access)\(scope: REQUESTS_WRITE\)/, '$1'],
  [
    'Mutation.touch has @access without a scope, so any key could call it: name one',
    'extend type Mutation { touch: Int @access }',
  ],
  [
    'Query.any_quote has @access(events: true), with which keys for other types could read each Quote: name a scope',
    'extend type Query { any_quote(id: ID!): Quote @access(events: true) }',
  ],
  [
    'Query.any_quote has @access without a scope, so any key could read each Quote',
    'extend type Query { any_quote(id: ID!): Quote @access(events: false) }',
  ],
  [
    'Quote.customer has @access(events: true), with which keys for other types could read each Customer',
    /(type Quote [^]*?) @access\(scope: CUSTOMERS_READ\)/,
    '$1 @access(events: true)',
  ],
  ['who gets events of orders', /(orders\(q.*@access)\(scope: ORDERS_READ\)/, '$1(any_of: [ORDERS_READ])'],
  ['enum Role has OWNER, which src/auth/roles.ts lacks: add it there', /(enum Role \{)/, '$1 OWNER'],
  ['Order.delivery_address takes any text about', /(type Order @stored[^]*?delivery_address: Address) @personal/, '$1'],
  ['Order.placed_at is @personal but can be neither', /(type Order @stored[^]*?placed_at: DateTime!)/, '$1 @personal'],
  ...['pattern: "^[A-Z]+$"', 'one_of: ["mine"]', 'min_length: 7', 'max_length: 5'].map((constraint): Case => [
    'Order.note_of is @personal but can be neither null nor the text "erased"',
    `extend type Order { note_of: String! @constraint(${constraint}) @personal }`,
  ]),
  [
    'Quote.external_ref is @personal but can be neither null nor',
    /(type Quote @stored[^]*?external_ref: String)( @constraint\([^)]*\) @personal)\(erased: false\)/,
    '$1!$2',
  ],
  [
    'Quote.number is @personal, but no two objects may have the same, as those that were erased would: add erased: false',
    /(type Quote\b[^]*?number: String!)/,
    '$1 @personal',
  ],
  [
    'Mutation.change_quote has the scope QUOTES_READ, with which keys can read Query.quote',
    change('note: String').replace('scope: QUOTES_WRITE', 'any_of: [QUOTES_WRITE, QUOTES_READ]'),
  ],
  [
    'has the scope REQUESTS_WRITE, with which keys can read Query.writers',
    'extend type Query { writers: Int @access(any_of: [REQUESTS_WRITE]) }',
  ],
  [
    'Mutation.change_quote has @access(events: true), with which keys can read events: use another for writes',
    change('note: String').replace('scope: QUOTES_WRITE', 'events: true'),
  ],
  ['Customer lacks @restricted, so a key with customer_ids', '@restricted(by: "id")', ''],
  [
    'Quote has @restricted(by: "number"), but number is neither',
    /(type Quote[^{]*)by: "customer_id"/,
    '$1by: "number"',
  ],
  [
    'Message has @restricted(by: "request_id"), but request_id is neither',
    /(type Request [^{]*?)@restricted\(by: "customer_id"\)/,
    '$1',
  ],
  [
    'Product has @restricted(by: "sku"), but sku is neither',
    '(collection: "products", unique: "sku")',
    '(collection: "products", unique: "sku") @restricted(by: "sku")',
  ],
  ['Product.name is @personal, but is not a member', /(type Product @stored[^}]*name: String!)/, '$1 @personal'],
  ['Product.orders(note:) takes a string', 'extend type Product { orders(note: String): Int }'],
  ['ProductUpsert.note takes a string of any length', 'extend input ProductUpsert { note: [String!] }'],
  ['AddressInput.floor is no member of Address, so it would be lost', /(input AddressInput \{)/, '$1 floor: Int'],
  // the SDL contradicts itself
  ['Quote is @stored but has no created_at', /(type Quote [^]*?)created_at: DateTime!/, '$1'],
  ['Quote is searched by Query.quotes(q:), but no member of Quote is', /(type Quote @[^}]*?) @searchable/, '$1'],
  ['Order.number is stored but has @graphql_only', /(type Order @[^]*?number: String!)/, '$1 @graphql_only'],
  ['Hidden has no field in REST: remove @graphql_only', 'type Hidden { a: Int @graphql_only }'],
  ['Order.quote needs a member quote_id of type ID in Order', /(type Order [^]*?)quote_id: ID/, '$1'],
  ['Customer.requests leads to another object', '): RequestPage @graphql_only', '): RequestPage'],
  ['MeKey.name has its own @access', /(type MeKey [^]*?name: String!)/, '$1 @access(scope: QUOTES_READ)'],
  ['Query.quote has :number in its path but no', '@rest(path: "/quotes/:id")', '@rest(path: "/quotes/:number")'],
  ['Query.quote takes id from its path, so it must be non-null: add !', /quote\(([^)]*)id: ID!/, 'quote($1id: ID'],
  ['Query.usage(period:) has the default', /(usage\([^)]*period: UsagePeriod)/, '$1 = last_year'],
  [
    'has @constraint(pattern: "["), which is not a regular',
    'open_request(text: String!',
    `${OPEN}(pattern: "["), text: String!`,
  ],
  [
    'has @constraint(format: "phone"), which nothing',
    'open_request(text: String!',
    `${OPEN}(format: "phone"), text: String!`,
  ],
  [
    'Product.colour has @constraint(format: "emial"), which nothing checks',
    'extend type Product { colour: String @constraint(format: "emial") }',
  ],
  [
    'Query.orders_of(size:) has @constraint(pattern:), which does nothing for Int: remove it',
    'extend type Query { orders_of(size: Int @constraint(pattern: "1")): Int @access }',
  ],
  [
    'Product.sizes has @constraint(max_length:), which does nothing for [Int!]: remove it',
    'extend type Product { sizes: [Int!] @constraint(max_length: 9) }',
  ],
  ...['DateTime = "yesterday"', 'Date = "soon"', 'Minor = "ten"'].map((input): Case => [
    `Query.orders_of(given:) has the default ${input.replace(/^.* /, '')}, which is not ${input.replace(/ .*$/, '')}`,
    `extend type Query { orders_of(given: ${input}): Int @access }`,
  ]),
  [
    'Mutation.change_quote(valid_until:) has the default null, which would replace what is stored: remove it, or give Quote.valid_until @default',
    change('valid_until: Date = null'),
  ],
  ['(status:) is OrderStatus, but Quote.status is', change('status: OrderStatus')],
  ['but Product.category is String', /(input ProductUpsert \{[^}]*category: )String/, '$1[String!]'],
  ['but Contact.primary is Boolean!', /(input ContactInput \{[^}]*primary: )Boolean/, '$1String'],
  ['Product.name excludes with max_length: 200', /(input ProductUpsert \{[^]*?max_length: )200/, '$1300'],
  ['excludes with min: 0', /(input ProductUpsert \{[^]*?unit_price_minor: Minor) @constraint\(min: 0\)/, '$1'],
  ['ContactInput.name takes what Contact.name', /(input ContactInput \{[^}]*max_length: 200), pattern: "\\\\S"/, '$1'],
  ['CustomerUpsert.email takes', /(input CustomerUpsert \{[^}]*email: String @constraint\()format: "email", /, '$1'],
  ['open_request(subject:) takes what Request.subject', /(open_request\(.*?subject: [^)]*max_length: )200/, '$1300'],
];

test.each(CASES.map((one) => [one[0], one] as const))('%s stops the start', (sentence, one) => {
  expect(errorsOf(broken(one))).toContain(sentence);
});

test('the published schema starts', () => {
  expect(errorsOf(parse(SDL))).toBe('none');
});

test('each error is a line with the file and line of the SDL', () => {
  expect(() => {
    refuseErrors(published, () => false);
  }).toThrow(/^invalid schema:\n(schema\/\w+\.graphql:\d+: \w+\.\w+ has no resolver: [^\n]+\n?)+$/);
});

test('an error in several places is reported once', () => {
  const sdl = SDL.replaceAll('scope: QUOTES_READ', 'scope: QUOTES_EAT');
  expect(errorsOf(parse(sdl)).split('\n')).toHaveLength(2);
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
