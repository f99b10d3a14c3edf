import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Kind, parse, visit } from 'graphql';
import { behaviourChanges } from '../../src/cli/schema/behaviour';
import { SchemaModel } from '../../src/schema/model';
import { readOurs } from '../../src/sdl/files';
import { joinDocuments } from '../../src/sdl/own';
import { ROOT } from '../docs/markdown';

/* Changes of what callers may do in the folder that `scopegate schema init` writes, one after another. */

const TEMPLATE = join(ROOT, 'examples', 'schema');
const FILES = readdirSync(TEMPLATE).filter((file) => file.endsWith('.graphql'));
const SDL = FILES.map((file) => readFileSync(join(TEMPLATE, file), 'utf8')).join('\n');
const OWN = parse(SDL).definitions.flatMap((node) =>
  node.kind === Kind.OBJECT_TYPE_DEFINITION ? node.name.value : [],
);
/** Without the types of the folder: in a copy that has made them ours, they would be there twice. */
const OURS = visit(readOurs(), { ObjectTypeDefinition: ({ name }) => (OWN.includes(name.value) ? null : undefined) });
const modelOf = (sdl: string): SchemaModel => new SchemaModel(joinDocuments(OURS, parse(sdl)));
const BEFORE = modelOf(SDL);

test('the same schema has no change', () => {
  expect(behaviourChanges(BEFORE, modelOf(SDL))).toEqual({ breaking: [], safe: [] });
});

const KEY = 'required: true, min_length: 1, max_length: 64';
const LIMIT = '"Page size, 1 to 100. Default 20."\n    limit: Int @constraint(min: 1, max: 100, default: 20)';
const LACK = 'is never null, but rows stored before lack it: make it nullable, or give it @default and run';

/** What breaks callers one way, and back again. Undefined: nothing. */
const CHANGES: readonly (readonly [
  from: string,
  to: string,
  there: string | undefined,
  back: string | undefined,
  what: string,
])[] = [
  [
    'path: "/invoices"',
    'path: "/bills"',
    'was GET /invoices, is GET /bills',
    'was GET /bills',
    'Query.invoices: @rest',
  ],
  ['@mcp @access', '@rest(path: "/t") @mcp @access', undefined, 'was GET /t, is none', 'Query.invoice_totals: @rest'],
  ['method: PATCH, path', 'method: PUT, path', 'is PUT', 'is PATCH', 'Mutation.update_invoice: @rest'],
  ['max: 100, default', 'max: 10, default', 'was 100, is 10', undefined, 'Query.invoices(limit:): max'],
  ['min: 1, max: 100', 'min: 2, max: 100', 'was 1, is 2', undefined, 'Query.invoices(limit:): min'],
  [LIMIT, LIMIT.replace('default: 20', 'default: 5'), undefined, undefined, 'Query.invoices(limit:): default'],
  [`${KEY}, pattern: "\\\\S"`, KEY, undefined, 'was none, is \\S', 'InvoiceUpsert.number: pattern'],
  [KEY, KEY.replace('64', '3'), 'was 64, is 3', undefined, 'InvoiceUpsert.number: max_length'],
  [KEY, KEY.replace('h: 1', 'h: 2'), 'was 1, is 2', undefined, 'InvoiceUpsert.number: min_length'],
  [KEY, KEY.replace('required: true, ', ''), undefined, 'was none, is true', 'InvoiceUpsert.number: required'],
  [
    'status: InvoiceStatus @constraint(not_null: true)',
    'status: InvoiceStatus',
    undefined,
    'is true',
    'Mutation.update_invoice(status:): not_null',
  ],
  [', "number", "-number"', '', 'one_of was created_at', undefined, 'Query.invoices(sort:): one_of'],
  ['max_items: 1000', 'max_items: 10', 'was 1000, is 10', undefined, 'Mutation.upsert_invoices(invoices:): max_items'],
  [
    `number: String @constraint(${KEY}`,
    `po: String @constraint(required: true, max_length: 9)\n  $&`,
    'is new, and required',
    undefined,
    'InvoiceUpsert.po',
  ],
  [
    'collection: "invoices", unique: "number") @restricted(by: "customer_id")',
    'collection: "invoices", unique: "number")',
    'was customer_id, is none',
    'was none, is customer_id',
    'Invoice: @restricted',
  ],
  [
    '): InvoicePage @rest(path: "/invoices") @access(scope: INVOICES_READ)',
    '): InvoicePage @rest(path: "/invoices") @access(scope: ORDERS_READ)',
    'is ORDERS_READ',
    'is INVOICES_READ',
    'Query.invoices: @access',
  ],
  ['by: BEFORE', 'by: SINCE', 'is due_on, SINCE', 'is due_on, BEFORE', 'Query.invoices(due_before:): @filter'],
  ['@filter(member: "due_on", by: BEFORE)', '', 'is none', undefined, 'Query.invoices(due_before:): @filter'],
  ['unique: "number"', 'unique: "currency"', 'is invoices by currency', 'is invoices by number', 'Invoice: @stored'],
  ['collection: "invoices"', 'collection: "bills"', 'is bills by number', 'is invoices by number', 'Invoice: @stored'],
  ['@default(value: "open")', '@default(value: "paid")', 'is "paid"', 'is "open"', 'Invoice.status: @default'],
  ['@default(from: ORGANISATION_CURRENCY)', '', 'is none', undefined, 'Invoice.currency: @default'],
  [
    'customer_id: ID\n  "When',
    'customer_id: ID @graphql_only\n  "When',
    'is EVERYWHERE',
    undefined,
    'Invoice.customer_id: @graphql_only',
  ],
  [
    'customer_id: ID\n  "When',
    'customer_id: ID @graphql_only(on: UNLESS_INCLUDED, include: "payer")\n  "When',
    'is UNLESS_INCLUDED',
    'is none',
    'Invoice.customer_id: @graphql_only',
  ],
  [
    'due_on: Date\n  "Id of the customer."',
    'due_on: Date!\n  "Id of the customer."',
    LACK,
    undefined,
    'Invoice.due_on',
  ],
  [
    '"Due date."\n  due_on',
    'paid: Boolean! @default(value: false)\n  "Due date."\n  due_on',
    LACK,
    undefined,
    'Invoice.paid',
  ],
  ['"Due date."\n  due_on', 'paid: Boolean\n  "Due date."\n  due_on', undefined, undefined, 'Invoice.paid'],
];

test.each(CHANGES)('%j to %j', (from, to, there, back, what) => {
  expect(SDL).toContain(from);
  const after = modelOf(SDL.replace(from, to));
  const said = [behaviourChanges(BEFORE, after).breaking, behaviourChanges(after, BEFORE).breaking];
  for (const [at, sentence] of [there, back].entries()) {
    const [line = 'none', ...others] = said[at]!;
    expect(others).toEqual([]);
    if (sentence === undefined) expect(line).toBe('none');
    else expect(line.slice(0, what.length)).toBe(what);
    if (sentence !== undefined) expect(line).toContain(sentence);
  }
});

test('a tighter bound of a stored member breaks writes of operators, and the filters that it bounds', () => {
  const { breaking } = behaviourChanges(BEFORE, modelOf(SDL.replace('max_length: 40', 'max_length: 3')));
  expect(breaking.toSorted()).toEqual([
    'Query.quotes(project_code:): max_length was 40, is 3.',
    'Quote.project_code: max_length was 40, is 3.',
  ]);
});

test('what is loosened, and what callers gain, is said to be safe', () => {
  const sdl = SDL.replace('max_length: 40', 'max_length: 50').replace('@mcp @access', '@rest(path: "/t") @mcp @access');
  const { breaking, safe } = behaviourChanges(BEFORE, modelOf(sdl));
  // in the order of the SDL, which has invoices elsewhere once they are ours
  expect([breaking, safe.toSorted()]).toEqual([
    [],
    [
      'Query.invoice_totals: @rest was none, is GET /t.',
      'Query.quotes(project_code:): max_length was 40, is 50.',
      'Quote.project_code: max_length was 40, is 50.',
    ],
  ]);
});
