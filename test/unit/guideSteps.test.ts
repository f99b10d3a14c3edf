import { parse } from 'graphql';
import { collections } from '../../src/resources';
import type { Resolver } from '../../src/operations/run';
import { blocksOf } from '../docs/markdown';
import { errorsOf, lintOf, SDL } from '../support/brokenSchema';

/* Takes the steps of the contributors' guide in wrong ways; each gets its sentence, from the start or from the linter. */

const resolve: Resolver = () => null;
const INDEXES = [
  { on: { number: 1 }, options: { unique: true } },
  ...['created_at', 'updated_at', 'status', 'customer_id', 'search'].map((member) => ({ on: { [member]: 1, _id: 1 } })),
];

const CHANGE = `extend type Mutation {
    change_invoice(id: ID!, status: InvoiceStatus @constraint(not_null: true), due_on: Date): Invoice
      @rest(method: PATCH, path: "/invoices/:id") @access(scope: QUOTES_WRITE)
  }`;
/** The first file of the guide, with scopes that exist. */
const { text } = blocksOf('docs/guides/contributors.md').find(({ language }) => language === 'graphql')!;
const INVOICES = `${text.replaceAll('INVOICES_READ', 'QUOTES_READ')}\n${CHANGE}`;

/** All that is said of the published schema with these invoices. */
function saidOf(sdl: string, indexes: typeof INDEXES | null = INDEXES, isWritten = true): string {
  const resources = [...collections, ...(indexes ? [{ name: 'invoices', indexes }] : [])];
  const own = {
    ...(indexes && { Query: { invoices: resolve, invoice: resolve }, Invoice: { customer: resolve } }),
    ...(isWritten && { Mutation: { change_invoice: resolve } }),
  };
  const document = parse(`${SDL}\n${sdl}`);
  const errors = errorsOf(document, { resources, own });
  return errors === 'none' ? lintOf(document, { resources, own }) : errors;
}

test('the right steps get none', () => {
  expect(saidOf(INVOICES)).toBe('');
});

test('a missing entry of the list is one sentence, without what follows from it', () => {
  const [, ...lines] = saidOf(INVOICES, null).split('\n');
  expect(lines).toEqual([
    expect.stringMatching(
      /^GraphQL request:\d+: Invoice is @stored, but no resource has the collection invoices: define one and add it to src\/resources\/index\.ts$/,
    ),
  ]);
});

test('a missing index and a missing resolver are reported', () => {
  const without = (name: string) => INDEXES.filter(({ on }) => Object.keys(on)[0] !== name);
  expect(saidOf(INVOICES, without('status'))).toContain('Query.invoices(status:) filters by status, but no index');
  expect(saidOf(INVOICES, without('updated_at'))).toContain('Query.invoices(sort:) sorts by updated_at, but no index');
  expect(saidOf(INVOICES, without('number'))).toContain('Invoice has @stored(unique: "number"), but no unique index');
  expect(saidOf(INVOICES, INDEXES, false)).toContain('Mutation.change_invoice has no resolver');
});

test.each<readonly [sentence: string, from: string | RegExp, to: string]>([
  ['Query.invoices has no @access', ') @access(scope: QUOTES_READ)', ')'],
  ['Query.invoices has @access without a scope, so any key', '@access(scope: QUOTES_READ)', '@access'],
  ['Value "INVOICES_READ" does not exist in "Scope" enum', 'scope: QUOTES_READ', 'scope: INVOICES_READ'],
  [
    'enum Scope has INVOICES_READ, which src/auth/scopes.ts lacks',
    'extend',
    'extend enum Scope { INVOICES_READ } extend',
  ],
  ['Unknown directive "@filtr". Did you mean "@filter"', '@filter', '@filtr'],
  ['Value "SINC" does not exist in "FilterBy" enum. Did you mean the enum value "SINCE"', 'by: SINCE', 'by: SINC'],
  ['Unknown type "InvoicesPage". Did you mean "InvoicePage"', '): InvoicePage', '): InvoicesPage'],
  ['Query.invoices is a list of Invoice: write InvoicePage', '): InvoicePage', '): [Invoice!]'],
  ['Query.invoices(customer_id:) has no @filter', 'customer_id: ID @filter', 'customer_id: ID'],
  [
    'Query.invoices(due:) filters by due, which its rows do not have',
    'customer_id: ID',
    'due: Date @filter customer_id: ID',
  ],
  [
    'Query.invoices has a limit without min, max and default',
    'limit: Int @constraint(min: 1, max: 100, default: 20)',
    'limit: Int',
  ],
  [
    'Query.invoices(sort:) sorts by due_on, but no index of its collection has that order',
    ', "number", "-number"',
    ', "due_on"',
  ],
  ['Invoice has total_minor: Int!, but it is money: write Minor', 'Minor!', 'Int!'],
  ['Invoice.note takes any text about a customer: add @personal', 'due_on: Date', 'note: String due_on: Date'],
  [
    'Invoice.customer leads to the type Customer, which any key could read',
    '@graphql_only @access(scope: CUSTOMERS_READ)',
    '@graphql_only',
  ],
  ['Invoice.customer refers to another object: add @graphql_only', '@graphql_only ', ''],
  [
    'Query.invoices(customer_id:) filters by customer_id, which its rows do not have',
    'customer_id: ID\n',
    'buyer_id: ID\n',
  ],
  ['Invoice is @stored but has no created_at', /(Invoice @stored[^]*?)created_at: DateTime!/, '$1made_at: DateTime!'],
  ['Invoice is searched by Query.invoices(q:), but no member of Invoice is @searchable', ' @searchable', ''],
  ['Query.invoice has the same route as Query.invoices', '"/invoices/:id"', '"/invoices"'],
  [
    'Mutation.change_invoice has the scope QUOTES_READ, with which keys read',
    'scope: QUOTES_WRITE',
    'scope: QUOTES_READ',
  ],
  ['Mutation.change_invoice(paid_on:) is no member of Invoice, which a PATCH sets', 'due_on: Date)', 'paid_on: Date)'],
  [
    'Mutation.change_invoice takes null for status, but Invoice.status is never null',
    ' @constraint(not_null: true)',
    '',
  ],
  ['the scalar Money is checked by nothing', 'extend', 'scalar Money extend'],
])('%s is said', (sentence, from, to) => {
  const wrong = INVOICES.replace(from, to);
  expect(wrong).not.toBe(INVOICES);
  expect(saidOf(wrong)).toContain(sentence);
});
