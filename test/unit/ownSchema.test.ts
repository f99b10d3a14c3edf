import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownErrors } from '../../src/schema/own/check';
import { eachWithTemplate, TEMPLATE } from '../support/templateFolder';

/* The folder of a user, and one mistake after another in it: each gets a sentence with file and line. */

const FILES = ['invoices.graphql', 'invoicesBulk.graphql'].map(
  (file) => [file, readFileSync(join(TEMPLATE, file), 'utf8')] as const,
);

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
  ['ProductUpsert.size would be required of all who call today', 'extend input ProductUpsert { size: Int! }'],
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
  [
    'Site.city is @personal, but that is said of whole objects: write it on Quote.site instead',
    'extend type Quote { site: Site } type Site { city: String @personal }',
  ],
  ['Unknown type "Strin". Did you mean "String"', 'extend type Quote { note: Strin @filter @personal }'],
  ['Note has the same collection as Order', stored('orders', '')],
  ["Note has the collection events, which is the gateway's own", stored('events', '')],
  ['write lower-case words joined by _', stored('system.users', '')],
  ['Note.constructor has a name that the gateway uses itself', stored('notes', 'constructor: String')],
  ['Note.search has a name that the gateway uses itself', stored('notes', 'search: String')],
  [
    'Note lacks updated_at, so it would be part of both Customer and Request: add updated_at: DateTime!',
    stored('notes', 'customer_id: ID request_id: ID!'),
  ],
  ['Note.noteText is no name of a member: write one like project_code', stored('notes', 'noteText: String')],
  ['my_note is no name of a type: write one like CustomerOrder', 'type my_note { id: ID! }'],
  [
    'Note refers to a customer by customer_id, but lacks @restricted, so a key with customer_ids would have',
    stored('notes', 'customer_id: ID'),
  ],
  ['Quote implements Dated, but there are no interfaces', 'extend type Quote implements Dated { size: Int }'],
  ['Line implements Dated, but there are no interfaces', 'type Line implements Dated { size: Int }'],
  ['Quote.note takes any text about a customer: add @personal', 'extend type Quote { note: String }'],
  ['Query.products(colour:) takes a string of any length', 'extend type Product { colour: String @filter }'],
  [
    'Order.tags is a list, so it needs its filter',
    'extend type Order { tags: [String!] @filter @personal(erased: false) }',
  ],
  ['Product.size has @filter with arguments', 'extend type Product { size: Int @filter(by: SINCE) }'],
  ['ProductUpsert.size is no member of Product, so it would be lost', 'extend input ProductUpsert { size: Int }'],
  [
    'ProductUpsert.size is String, but Product.size is Int',
    'extend type Product { size: Int } extend input ProductUpsert { size: String @constraint(max_length: 9) }',
  ],
  ['Product has @index(on: "size"), which is not a member', 'extend type Product @index(on: ["size"])'],
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

/** In the files of invoices, with the words that begin the line at which it is reported. */
const CHANGED: readonly (readonly [sentence: string, from: string, to: string, at: string])[] = [
  [
    'Query.invoices has no @access',
    ': InvoicePage @rest(path: "/invoices") @access(scope: INVOICES_READ)',
    ': InvoicePage @rest(path: "/invoices")',
    'invoices(',
  ],
  [
    'Mutation.update_invoice has the scope INVOICES_READ, with which keys can read',
    'idempotent: true) @access(scope: INVOICES_WRITE)\n}',
    'idempotent: true) @access(scope: INVOICES_READ)\n}',
    'update_invoice(',
  ],
  [
    'Query.invoices(due_before:) filters by due_at, which its rows do not have',
    'member: "due_on"',
    'member: "due_at"',
    'due_before:',
  ],
  [
    'Invoice has @stored(unique: "code"), but Invoice has no code: String!',
    'unique: "number"',
    'unique: "code"',
    'type Invoice ',
  ],
  [
    'Invoice.status has @default(value: "new"), which is not InvoiceStatus!',
    'value: "open"',
    'value: "new"',
    'status: InvoiceStatus! @default',
  ],
  [
    'InvoiceUpsert.total_minor may be null, but Invoice.total_minor is never null',
    'Minor @constraint(not_null: true)',
    'Minor',
    'total_minor: Minor\n',
  ],
  [
    'Query.invoice_totals sums amounts by currency, but Invoice has no currency',
    'currency: String! @constraint(pattern: "^[A-Z]{3}$", format: "known-currency") @default(from: ORGANISATION_CURRENCY)',
    'money: String!',
    'invoice_totals(',
  ],
  [
    'Customer.invoices is a list of Invoice',
    '): InvoicePage @graphql_only',
    '): [Invoice!] @graphql_only',
    'invoices(',
  ],
  [
    'InvoicePage lacks has_more: Boolean!: add it',
    'has_more: Boolean!\n  "Cursor',
    'more: Boolean!\n  "Cursor',
    'type InvoicePage',
  ],
  [
    'invoices(cursor:) is ID: write String',
    'cursor: String @constraint(max_length: 2048)\n  ): InvoicePage @rest',
    'cursor: ID\n  ): InvoicePage @rest',
    'cursor: ID',
  ],
  ['invoice_totals(from:) is Date: write DateTime', 'from: DateTime', 'from: Date', 'from: Date'],
  [
    'Query.invoice_totals has a limit of 1 to 5000, 20 by default, but it may have 1 to 1000, with the default between: write @constraint(min: 1, max: 1000, default: 1000)',
    'to: DateTime\n  ): InvoiceTotals',
    'to: DateTime\n    limit: Int @constraint(min: 1, max: 5000, default: 20)\n  ): InvoiceTotals',
    'limit: Int',
  ],
  ...['min: 1, max: 500, default: 20', 'min: 0, max: 100, default: 20', 'min: 1, max: 10, default: 20'].map(
    (bounds) =>
      [
        'with the default between: write @constraint(min: 1, max: 100, default: 20)',
        'min: 1, max: 100, default: 20',
        bounds,
        'limit: Int',
      ] as const,
  ),
  [
    'Query.invoices has @mcp(limit: 5000), but its limit is 1 to 100',
    '): InvoicePage @rest(path: "/invoices")',
    '): InvoicePage @mcp(limit: 5000) @rest(path: "/invoices")',
    'invoices(',
  ],
  [
    'invoices lacks the argument limit: Int: add it',
    `    "Page size, 1 to 100. Default 20."
    limit: Int @constraint(min: 1, max: 100, default: 20)
    "\`next_cursor\` of the previous page; also`,
    '    "`next_cursor` of the previous page; also',
    'invoices(',
  ],
  ['invoice_totals(since:) has no effect on totals', 'from: DateTime', 'since: DateTime', 'since: DateTime'],
  [
    'Query.invoice_totals has @totals(at: "due_on"), so it would leave out each Invoice without it',
    'at: "created_at"',
    'at: "due_on"',
    'invoice_totals(',
  ],
  [
    'Query.invoices(sort:) sorts by due_on, so its pages would leave out rows without it',
    '"number", "-number"',
    '"number", "-due_on"',
    'sort:',
  ],
  ['InvoiceTotal lacks count: Int!: add it', 'count: Int!', 'number: Int!', 'type InvoiceTotal '],
  ['InvoiceUpsertReport.failed is Int: write Int!', 'failed: Int!', 'failed: Int', 'failed: Int'],
  [
    'InvoiceUpsertResult lacks number: String: add it',
    'number: String\n  "Id of the invoice; null',
    'key: String\n  "Id of the invoice; null',
    'type InvoiceUpsertResult',
  ],
  [
    'upsert_invoices(invoices:) takes 5000 elements: write @constraint(min_items: 1, max_items: 1000)',
    'max_items: 1000) @per_element',
    'max_items: 5000) @per_element',
    'invoices: [InvoiceUpsert',
  ],
  [
    'upsert_invoices(invoices:) takes any number of elements',
    '@constraint(min_items: 1, max_items: 1000) @per_element',
    '@per_element',
    'invoices: [InvoiceUpsert',
  ],
  ['Invoice is @stored but has no id: add id: ID!', '"Id of the invoice (UUID)."\n  id: ID!\n', '', 'type Invoice '],
];

test.each(CHANGED)('%s', (sentence, from, to, at) => {
  const [name, text] = FILES.find(([, one]) => one.includes(from))!;
  const changed = text.replace(from, to);
  const file = join(folder, name);
  writeFileSync(file, changed);
  const found = ownErrors(folder).filter((line) => line.includes(sentence));
  expect(found).toHaveLength(1);
  const [, line = ''] = /:(\d+): /.exec(found[0]!) ?? [];
  expect(found[0]!.startsWith(`${file}:`)).toBe(true);
  // descriptions come first
  const lines = changed.split('\n').slice(Number(line) - 1, Number(line) + 1);
  expect(`${lines.join('\n')}\n`).toContain(at);
});

test.each(['Minor!', 'Minor @constraint(required: true)'])('a bulk call may require what is never null: %s', (type) => {
  const [name, text] = FILES.find(([, one]) => one.includes('Minor @constraint(not_null: true)'))!;
  writeFileSync(join(folder, name), text.replace('Minor @constraint(not_null: true)', type));
  expect(ownErrors(folder)).toEqual([]);
});

test.each([
  ['a list with another name', '  invoices(\n    "Prefix', '  all_invoices(\n    "Prefix', 'name it invoices'],
  ['a collection of ours', 'collection: "invoices"', 'collection: "orders"', 'has the same collection as Order'],
  ['a key that is no member', 'unique: "number"', 'unique: "code"', 'Invoice has no code: String!'],
])('%s is one line', (_what, from, to, sentence) => {
  const [name, text] = FILES[0]!;
  expect(text).toContain(from);
  writeFileSync(join(folder, name), text.replace(from, to));
  expect(ownErrors(folder)).toEqual([expect.stringContaining(sentence)]);
});

test('a member that is there twice is one line, and so is a type', () => {
  writeFileSync(
    join(folder, 'more.graphql'),
    '\nextend type Quote { project_code: Int @filter } type Quote { id: ID! }',
  );
  const lines = ownErrors(folder);
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(line).toMatch(/^\/\S+(?:more|quotes)\.graphql:\d+: /);
});

test('unknown types, wrong values of directives and what may not be defined are reported together', () => {
  writeFileSync(
    join(folder, 'more.graphql'),
    'extend type Quote { note: Strin }\nextend type Order { size: Int @filter(by: SINC) }\nscalar Money',
  );
  expect(ownErrors(folder)).toEqual([
    expect.stringContaining('more.graphql:2: Order.size has @filter with arguments'),
    expect.stringContaining('more.graphql:3: a folder of your own has'),
    expect.stringContaining('more.graphql:1: Unknown type "Strin"'),
  ]);
  writeFileSync(join(folder, 'more.graphql'), 'extend type Quote { note: Strin }');
  writeFileSync(join(folder, 'other.graphql'), 'extend type Query { bills(on: Date @filter(by: SINC)): Int }');
  expect(ownErrors(folder)).toEqual([
    expect.stringContaining('more.graphql:1: Unknown type "Strin"'),
    expect.stringContaining('other.graphql:1: Value "SINC" does not exist'),
  ]);
  // a name that is wrong twice is one line, in the order of the first places
  writeFileSync(join(folder, 'other.graphql'), 'extend type Quote { size: Decimal, text: Strin }');
  expect(ownErrors(folder)).toEqual([
    expect.stringContaining('more.graphql:1: Unknown type "Strin"'),
    expect.stringContaining('other.graphql:1: Unknown type "Decimal"'),
  ]);
});

test('all mistakes are reported at once, each once', () => {
  writeFileSync(
    join(folder, 'more.graphql'),
    'type Quote { id: ID! }\nextend type Order { weight: Float! }\nscalar Money',
  );
  expect(ownErrors(folder)).toHaveLength(3);
  writeFileSync(join(folder, 'more.graphql'), 'extend type Quote {');
  writeFileSync(join(folder, 'other.graphql'), 'type }');
  expect(ownErrors(folder)).toHaveLength(2);
});
