import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownErrors } from '../../src/schema/own/check';
import { eachWithTemplate, TEMPLATE } from '../support/templateFolder';

/* The folder of a user, and one mistake after another in its files: each gets a sentence with file and line. */

const FILES = ['invoices.graphql', 'invoicesBulk.graphql'].map(
  (file) => [file, readFileSync(join(TEMPLATE, file), 'utf8')] as const,
);

let folder: string;
eachWithTemplate((copy) => {
  folder = copy;
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

test('a report without results is one line, and no member of a type that does not exist', () => {
  const [name, text] = FILES.find(([, one]) => one.includes('results: ['))!;
  writeFileSync(join(folder, name), text.replace(/results: \[\w+!\]!/, 'outcomes: [InvoiceUpsertResult!]!'));
  expect(ownErrors(folder).filter((line) => line.includes('Result lacks') || line.includes('lacks results'))).toEqual([
    expect.stringContaining('InvoiceUpsertReport lacks results: [Result!]!: add it'),
  ]);
});

test('totals of a type without a customer take no customer_id', () => {
  const [name, text] = FILES[0]!;
  const filtered = text.replace(
    'to: DateTime\n  ): InvoiceTotals',
    'to: DateTime\n    "Whose."\n    customer_id: ID\n  ): InvoiceTotals',
  );
  writeFileSync(join(folder, name), filtered);
  expect(ownErrors(folder)).toEqual([]);
  writeFileSync(join(folder, name), filtered.replace('customer_id: ID\n  "When', 'buyer_id: ID\n  "When'));
  expect(ownErrors(folder)).toContainEqual(
    expect.stringContaining(
      'invoice_totals(customer_id:) has no effect on totals, which take group_by, from, to, status, currency,',
    ),
  );
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
