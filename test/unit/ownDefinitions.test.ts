import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownErrors } from '../../src/schema/own/check';
import { eachWithTemplate } from '../support/templateFolder';

/* Definitions that a user may not add to the folder in a file of their own: each gets a sentence with file and line. */

let folder: string;
eachWithTemplate((copy) => {
  folder = copy;
});

const ACCESS = '@access(scope: INVOICES_READ)';
const stored = (collection: string, fields: string, more = ''): string =>
  `type Note @stored(collection: "${collection}") { id: ID! created_at: DateTime! ${fields} } ${more}`;

/** In a file of its own, on its second line. */
const ADDED: readonly (readonly [sentence: string, sdl: string])[] = [
  ['Syntax Error: Expected Name, found "}".', 'extend type Quote { note: }'],
  ['Quote is also defined at schema/quotes.graphql:', 'type Quote { id: ID! }'],
  ['Invoice is also defined at FOLDER/invoices.graphql:', 'type Invoice { id: ID! }'],
  ['Quote.status is also defined at schema/quotes.graphql:', 'extend type Quote { status: String }'],
  ['Query.quotes is also defined at schema/quotes.graphql:', `extend type Query { quotes: Int ${ACCESS} }`],
  ['QuoteStatus.draft is also defined at schema/quotes.graphql:', 'extend enum QuoteStatus { draft }'],
  ['ProductUpsert.name is also defined at schema/products.graphql:', 'extend input ProductUpsert { name: String }'],
  ['Order.weight is Float!, but what is stored already lacks it: write Float', 'extend type Order { weight: Float! }'],
  [
    'Order.tags is [String!]!, but what is stored already lacks it: write [String!]',
    'extend type Order { tags: [String!]! }',
  ],
  ['OrderLine.weight is Float!, but what is stored', 'extend type OrderLine { weight: Float! }'],
  [
    'ProductUpsert.size would be required of all who call today: remove the !',
    'extend input ProductUpsert { size: Int! }',
  ],
  [
    'ProductUpsert.size would be required of all who call today: remove required: true',
    'extend type Product { size: Int } extend input ProductUpsert { size: Int @constraint(required: true) }',
  ],
  [
    'ProductUpsert.size would be required of all who create objects today: remove not_null: true',
    'extend type Product { size: Int } extend input ProductUpsert { size: Int @constraint(not_null: true) }',
  ],
  [
    'ProductUpsert.size has the default 3, which would replace what is stored: remove it, or give Product.size @default',
    'extend type Product { size: Int } extend input ProductUpsert { size: Int = 3 }',
  ],
  [
    'RequestContactInput cannot be extended: only elements of bulk calls',
    'extend input RequestContactInput { size: Int }',
  ],
  ['Me is not stored, so nothing would give what you add', 'extend type Me { note: String }'],
  ["enum UpsertOutcome is the gateway's own and cannot be extended", 'extend enum UpsertOutcome { delayed }'],
  ['has types, inputs, enums and extensions only: remove this directive definition', 'directive @mine on OBJECT'],
  ['has types, inputs, enums and extensions only: remove this scalar type definition', 'scalar Money'],
  ['has types, inputs, enums and extensions only: remove this operation definition', 'query { me { id } }'],
  ['Cannot extend type "Qoute" because it is not defined. Did you mean "Quote"', 'extend type Qoute { size: Int }'],
  [
    'Unknown type "Decimal". Scalars are ID, String, Int, Float, Boolean, Minor, Date, DateTime.',
    'extend type Quote { fee: Decimal }',
  ],
  ['Unknown directive "@serchable". Did you mean "@searchable"', 'extend type Order { size: Int @serchable }'],
  ['Value "BILLS_READ" does not exist in "Scope" enum', 'extend type Query { bills: Int @access(scope: BILLS_READ) }'],
  ['Query.bills would need code, which a folder cannot have', `extend type Query { bills: Int ${ACCESS} }`],
  [
    'Mutation.drop_note would need code, which a folder cannot have',
    'extend type Mutation { drop_note(id: ID!): Quote @rest(method: DELETE, path: "/notes/:id") @access(scope: INVOICES_WRITE) }',
  ],
  [
    'Query.bills lists Invoice, which has the collection invoices: name it invoices',
    `extend type Query { bills(status: InvoiceStatus @filter): InvoicePage ${ACCESS} }`,
  ],
  ['Quote.size is Int, but the search finds words of a String', 'extend type Quote { size: Int @searchable }'],
  ['Quote has cost: Minor, but its name does not say', 'extend type Quote { cost: Minor }'],
  [
    'Query.one_quote has the path /one/{id}, which matches no request: write /one/:id',
    `extend type Query { one_quote(id: ID!): Quote @rest(path: "/one/{id}") ${ACCESS} }`,
  ],
  [
    'Query.one_quote has the path one/:id, which matches no request: write one like /invoices/:id',
    `extend type Query { one_quote(id: ID!): Quote @rest(path: "one/:id") ${ACCESS} }`,
  ],
  ...['/docs', '/docs/:id'].map(
    (path) =>
      [
        `Query.one_quote has the path ${path}, which has pages of the gateway: begin it with another word than docs`,
        `extend type Query { one_quote(id: ID!): Quote @rest(path: "${path}") ${ACCESS} }`,
      ] as const,
  ),
  [
    'Site.city is @personal, but that is said of whole objects: write it on Quote.site instead',
    'extend type Quote { site: Site } type Site { city: String @personal }',
  ],
  ['Note.tags is [String], but no element of a list is null: write [String!]', stored('notes', 'tags: [String]')],
  ['Mark.at is [DateTime]!, but no element of', stored('notes', 'mark: Mark', 'type Mark { at: [DateTime]! }')],
  ['MarkInput.refs is [ID], but no element of a list is null: write [ID!]', 'input MarkInput { refs: [ID] }'],
  [
    'Mutation.change_note(tags:) is [Int], but no element of a list is null: write [Int!]',
    `extend type Mutation { change_note(id: ID!, tags: [Int]): Note @rest(method: PATCH, path: "/notes/:id") @access(scope: INVOICES_WRITE) } ${stored('notes', 'tags: [Int!]')}`,
  ],
  [
    'Note.grid is [[Int!]!]!, but a list has no lists in it: write [Int!]!, or a list of objects with a list each',
    stored('notes', 'grid: [[Int!]!]!'),
  ],
  ...['product: Product', 'product: Product!', 'product: ProductPage'].map(
    (field) =>
      [
        'Mark.product leads to a Product, but is in an object inside another, where it would always be null: write product_id: ID, with which callers get the Product by its own operation',
        stored('notes', 'marks: [Mark!]', `type Mark { ${field} size: Int }`),
      ] as const,
  ),
  ...[
    ['Int! @default(value: 5000000000)', '(value: 5000000000), which is not Int! of 32 bits: correct it'],
    ['Float! @default(value: 1e999)', '(value: null), which is not Float!: correct it'],
    ['InvoiceStatus! @default(value: ["open"])', '(value: ["open"]), which is not InvoiceStatus!: correct it'],
    [
      'Int! @default(from: ORGANISATION_CURRENCY)',
      '(from:), which gives the code of a currency, but is Int!: write String!',
    ],
    ['Int! @constraint(min: 1) @default(value: 0)', '(value: 0), which its @constraint excludes: correct it'],
    [
      'String! @constraint(max_length: 2) @default(value: "new")',
      '(value: "new"), which its @constraint excludes: correct',
    ],
    [
      'String! @constraint(pattern: "^[A-Z]+$") @default(value: "a")',
      '(value: "a"), which its @constraint excludes: correct',
    ],
    [
      'String! @constraint(one_of: ["a", "b"]) @default(value: "c")',
      '(value: "c"), which its @constraint excludes: correct',
    ],
  ].map(([field, wrong]) => [`Note.n has @default${String(wrong)}`, stored('notes', `n: ${String(field)}`)] as const),
  ['Unknown type "Strin". Did you mean "String"', 'extend type Quote { note: Strin @filter @personal }'],
  ['Note has the same collection as Order', stored('orders', '')],
  ["Note has the collection events, which is the gateway's own", stored('events', '')],
  ['write lower-case words joined by _', stored('system.users', '')],
  ['Note.constructor has a name that the gateway uses itself', stored('notes', 'constructor: String')],
  ['Note.search has the name of the words that a search finds', stored('notes', 'search: String')],
  ['Product.search has the name of the words that a search finds', 'extend type Product { search: String }'],
  [
    'Note.data has the name of the rows of a page: choose another',
    stored('notes', 'data: Mark', 'type Mark { a: Int }'),
  ],
  [
    'Note lacks updated_at, so it would be part of both Customer and Request: add updated_at: DateTime!',
    stored('notes', 'customer_id: ID request_id: ID!'),
  ],
  [
    'Reply lacks updated_at, so it would be part of Note, which is itself part of Order: add updated_at: DateTime! to Reply, or to Note',
    `${stored('notes', 'order_id: ID!')} type Reply @stored(collection: "replies") { id: ID! created_at: DateTime! note_id: ID! }`,
  ],
  [
    'Note lacks updated_at, so it would be part of itself by note_id: add updated_at: DateTime!',
    stored('notes', 'note_id: ID'),
  ],
  ['Note.noteText is no name of a member: write one like project_code', stored('notes', 'noteText: String')],
  ['my_note is no name of a type: write one like CustomerOrder', 'type my_note { id: ID! }'],
  [
    'Note refers to a customer by customer_id, but lacks @restricted, so a key with customer_ids would have',
    stored('notes', 'customer_id: ID'),
  ],
  ...[
    [
      'Query.notes',
      'lists',
      'Query',
      'notes(limit: Int): NotePage @rest(path: "/notes") @access(scope: INVOICES_READ)',
    ],
    [
      'Query.note_totals',
      'sums',
      'Query',
      'note_totals: NoteTotals @totals(of: "Note", at: "created_at") @access(scope: INVOICES_READ)',
    ],
    [
      'Mutation.upsert_notes',
      'finds',
      'Mutation',
      'upsert_notes(notes: [NoteUpsert!]! @per_element): NoteReport @access(scope: INVOICES_WRITE)',
    ],
  ].map(
    ([place, verb, root, field]) =>
      [
        `${String(place)} ${String(verb)} any Note, but a key with customer_ids can only be given those of one Order: remove it, or add updated_at: DateTime! and customer_id: ID to Note, with @restricted(by: "customer_id")`,
        `extend type ${String(root)} { ${String(field)} }
         type Note @stored(collection: "notes", unique: "code") @restricted(by: "order_id") { id: ID! created_at: DateTime! code: String! order_id: ID! }
         type NotePage { data: [Note!]! has_more: Boolean! next_cursor: String }
         type NoteTotals { data: [NoteTotal!]! } type NoteTotal { count: Int! currency: String! }
         type NoteReport { created: Int! } input NoteUpsert { code: String! }`,
      ] as const,
  ),
  ['Quote implements Dated, but there are no interfaces', 'extend type Quote implements Dated { size: Int }'],
  ['Line implements Dated, but there are no interfaces', 'type Line implements Dated { size: Int }'],
  ['Quote.note takes any text about a customer: add @personal', 'extend type Quote { note: String }'],
  ...[
    ['', 'no max_length'],
    [' @constraint(max_length: 193)', 'max_length: 193'],
  ].map(
    ([constraint, what]) =>
      [
        `Page.url is unique, and objects are found by at most 192 characters, but it has ${String(what)}: write @constraint(max_length: 192) or less`,
        `type Page @stored(collection: "pages", unique: "url") { id: ID! created_at: DateTime! url: String!${String(constraint)} }`,
      ] as const,
  ),
  ['Query.products(colour:) takes a string of any length', 'extend type Product { colour: String @filter }'],
  [
    'Order.tags is a list, so it needs its filter',
    'extend type Order { tags: [String!] @filter @personal(erased: false) }',
  ],
  [
    'Product.limit has @filter, but Query.products(limit:) is another argument: rename the member, or write @filter(member: "limit") on an argument with another name',
    'extend type Product { limit: Int @filter }',
  ],
  [
    'Product.updated has @filter, but Query.products(updated_since:) is another argument',
    'extend type Product { updated: DateTime @filter }',
  ],
  [
    'Mark.size has @filter, but is in the rows of no list: remove @filter',
    stored('notes', 'mark: Mark', 'type Mark { size: Int @filter }'),
  ],
  [
    'Message.size has @filter, but there is no list Query.messages: remove @filter',
    'extend type Message { size: Int @filter }',
  ],
  ['Product.size has @filter with arguments', 'extend type Product { size: Int @filter(by: SINCE) }'],
  ['ProductUpsert.size is no member of Product, so it would be lost', 'extend input ProductUpsert { size: Int }'],
  [
    'ProductUpsert.size is String, but Product.size is Int',
    'extend type Product { size: Int } extend input ProductUpsert { size: String @constraint(max_length: 9) }',
  ],
  ['Product has @index(on: "size"), which is not a member', 'extend type Product @index(on: ["size"])'],
  [
    'ProductUpsert.marks is [Mark!], but Mark is no input type: write [MarkInput!], and an input MarkInput with the members that callers send',
    'extend input ProductUpsert { marks: [Mark!] @constraint(max_items: 9) } extend type Product { marks: [Mark!] } type Mark { size: Int }',
  ],
  [
    'Note.mark is MarkInput, but MarkInput is an input type: write a type with its members',
    stored('notes', 'mark: MarkInput', 'input MarkInput { size: Int }'),
  ],
  [
    'Note.text has @constraint(pattern: "["), which is not a regular expression',
    stored('notes', 'text: String @constraint(pattern: "[")'),
  ],
  [
    'Tree.branches leads back to Tree, but is stored in each Note',
    stored('notes', 'tree: Tree', 'type Tree { branches: [Tree!] }'),
  ],
  ['Order has cost: Int, but it is money: write Minor', 'extend type Order { cost_minor: Int }'],
  [
    'Note.metadata_value has arguments, so it is null for those who are refused: remove its last !',
    stored('notes', 'metadata_value(key: String! @constraint(max_length: 40)): String!'),
  ],
  [
    'Note.order has @access, so it is null for those who are refused: remove its last !',
    stored('notes', 'order_id: ID! order: Order! @graphql_only @access(scope: ORDERS_READ)'),
  ],
];

test.each(ADDED)('%s', (sentence, sdl) => {
  const file = join(folder, 'more.graphql');
  writeFileSync(file, `\n${sdl}\n`);
  const expected = sentence.replace('FOLDER', folder).replace('cost: Int', 'cost_minor: Int');
  const lines = ownErrors(folder);
  expect(lines.filter((line) => line.startsWith(`${file}:2: `)).join('\n')).toContain(expected);
});

test('an input with another kind of type is one line', () => {
  const sdl =
    'extend input ProductUpsert { marks: [Mark!] } extend type Product { marks: [Mark!] } type Mark { size: Int }';
  writeFileSync(join(folder, 'more.graphql'), sdl);
  expect(ownErrors(folder).filter((line) => line.includes('ProductUpsert.marks'))).toHaveLength(1);
});
