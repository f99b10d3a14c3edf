import { parse } from 'graphql';
import { collections } from '../../src/resources';
import type { Resolver } from '../../src/operations/run';
import { blocksOf } from '../docs/markdown';
import { errorsOf, SDL } from '../support/brokenSchema';

/* Gets the steps of the contributors' guide wrong; the start reports each mistake. */

const resolve: Resolver = () => null;
const INDEXES = [
  { on: { number: 1 }, options: { unique: true } },
  ...['created_at', 'updated_at', 'status', 'customer_id', 'search'].map((member) => ({ on: { [member]: 1, _id: 1 } })),
];

const CHANGE = `extend type Mutation {
    change_invoice(id: ID!, status: InvoiceStatus @constraint(not_null: true), due_on: Date): Invoice
      @rest(method: PATCH, path: "/invoices/:id") @access(scope: QUOTES_WRITE)
  }`;
const { text } = blocksOf('docs/guides/contributors.md').find(({ language }) => language === 'graphql')!;
/** The first file of the guide, with existing scopes, and with bills in case its invoices exist already. */
const BILLS = `${text.replaceAll('INVOICES_READ', 'QUOTES_READ')}\n${CHANGE}`
  .replaceAll('Invoice', 'Bill')
  .replaceAll('invoice', 'bill');

/** All errors in the published schema with these bills. */
function saidOf(sdl: string, indexes: typeof INDEXES | null = INDEXES, isWritten = true): string {
  const resources = [...collections, ...(indexes ? [{ name: 'bills', indexes }] : [])];
  const own = {
    ...(indexes && { Query: { bills: resolve, bill: resolve }, Bill: { customer: resolve } }),
    ...(isWritten && { Mutation: { change_bill: resolve } }),
  };
  return errorsOf(parse(`${SDL}\n${sdl}`), { resources, own });
}

test('the right steps get none', () => {
  expect(saidOf(BILLS)).toBe('none');
});

test('a missing entry of the list is one sentence, without what follows from it', () => {
  const [, ...lines] = saidOf(BILLS, null).split('\n');
  expect(lines).toEqual([
    expect.stringMatching(
      /^GraphQL request:\d+: Bill is @stored, but no resource has the collection bills: define one and add it to src\/resources\/index\.ts$/,
    ),
  ]);
});

test('a missing index and a missing resolver are reported', () => {
  const without = (name: string) => INDEXES.filter(({ on }) => Object.keys(on)[0] !== name);
  expect(saidOf(BILLS, without('status'))).toContain('Query.bills(status:) filters by status, but no index');
  expect(saidOf(BILLS, without('updated_at'))).toContain('Query.bills(sort:) sorts by updated_at, but no index');
  expect(saidOf(BILLS, without('number'))).toContain('Bill has @stored(unique: "number"), but no unique index');
  expect(saidOf(BILLS, INDEXES, false)).toContain('Mutation.change_bill has no resolver');
});

test.each<readonly [sentence: string, from: string | RegExp, to: string]>([
  ['Query.bills has no @access', ') @access(scope: QUOTES_READ)', ')'],
  ['Query.bills has @access without a scope, so any key', '@access(scope: QUOTES_READ)', '@access'],
  ['Value "BILLS_READ" does not exist in "Scope" enum', 'scope: QUOTES_READ', 'scope: BILLS_READ'],
  ['enum Scope has BILLS_READ, which src/auth/scopes.ts lacks', 'extend', 'extend enum Scope { BILLS_READ } extend'],
  ['Unknown directive "@filtr". Did you mean "@filter"', '@filter', '@filtr'],
  ['Value "SINC" does not exist in "FilterBy" enum. Did you mean the enum value "SINCE"', 'by: SINCE', 'by: SINC'],
  ['Unknown type "BillsPage". Did you mean "BillPage"', '): BillPage', '): BillsPage'],
  ['Query.bills is a list of Bill: write BillPage', '): BillPage', '): [Bill!]'],
  ['Query.bills(customer_id:) has no @filter', 'customer_id: ID @filter', 'customer_id: ID'],
  ['Query.bills(due:) filters by due', 'customer_id: ID', 'due: Date @filter customer_id: ID'],
  ['Query.bills has a limit without min, max', 'limit: Int @constraint(min: 1, max: 100, default: 20)', 'limit: Int'],
  ['Query.bills(sort:) sorts by due_on', ', "number", "-number"', ', "due_on"'],
  ['Bill has total_minor: Int!, but it is money: write Minor', 'Minor!', 'Int!'],
  ['Bill.note takes any text about a customer: add @personal', 'due_on: Date', 'note: String due_on: Date'],
  ['Bill.customer leads to the type Customer', '@graphql_only @access(scope: CUSTOMERS_READ)', '@graphql_only'],
  ['Bill.customer leads to another object, which REST has only if', '@graphql_only ', ''],
  ['Query.bills(customer_id:) filters by customer_id', 'customer_id: ID\n', 'buyer_id: ID\n'],
  ['Bill is @stored but has no created_at', /(Bill @stored[^]*?)created_at: DateTime!/, '$1made_at: DateTime!'],
  ['Bill is searched by Query.bills(q:), but no member of Bill is @searchable', ' @searchable', ''],
  ['Query.bill has the same route as Query.bills', '"/bills/:id"', '"/bills"'],
  [
    'Mutation.change_bill has the scope QUOTES_READ, with which keys can read',
    'scope: QUOTES_WRITE',
    'scope: QUOTES_READ',
  ],
  ['Mutation.change_bill(paid_on:) is no member of Bill, which a PATCH sets', 'due_on: Date)', 'paid_on: Date)'],
  ['Mutation.change_bill takes null for status, but Bill.status is never null', ' @constraint(not_null: true)', ''],
  ['nothing checks the scalar Money', 'extend', 'scalar Money extend'],
])('%s is reported', (sentence, from, to) => {
  const wrong = BILLS.replace(from, to);
  expect(wrong).not.toBe(BILLS);
  expect(saidOf(wrong)).toContain(sentence);
});
