import { parse } from 'graphql';
import { BILLS } from '../support/bills';
import { errorsOf, SDL } from '../support/brokenSchema';

/* Gets the SDL of a resource wrong; the start reports each mistake. */

/** All errors in the published schema with these bills. */
const saidOf = (sdl: string): string => errorsOf(parse(`${SDL}\n${sdl}`));

test('the right steps get none', () => {
  expect(saidOf(BILLS)).toBe('none');
});

test('a field that nothing derives has no resolver', () => {
  expect(saidOf(`${BILLS}\nextend type Query { best_bill: Bill @access(scope: QUOTES_READ) }`)).toContain(
    'Query.best_bill has no resolver',
  );
});

test.each<readonly [sentence: string, from: string | RegExp, to: string]>([
  ['Query.bills has no @access', ') @access(scope: QUOTES_READ)', ')'],
  ['Query.bills has @access without a scope, so any key', '@access(scope: QUOTES_READ)', '@access'],
  ['Value "BILLS_READ" does not exist in "Scope" enum', 'scope: QUOTES_READ', 'scope: BILLS_READ'],
  ['Unknown directive "@filtr". Did you mean "@filter"', '@filter', '@filtr'],
  ['Value "SINC" does not exist in "FilterBy" enum. Did you mean the enum value "SINCE"', 'by: SINCE', 'by: SINC'],
  ['Unknown type "BillsPage". Did you mean "BillPage"', '): BillPage', '): BillsPage'],
  ['Query.bills is a list of Bill: write BillPage', '): BillPage', '): [Bill!]'],
  ['Query.bills(customer_id:) has no @filter', 'customer_id: ID @filter', 'customer_id: ID'],
  ['Query.bills(due:) filters by due', 'customer_id: ID', 'due: Date @filter customer_id: ID'],
  ['Query.bills has a limit without min, max', 'limit: Int @constraint(min: 1, max: 100, default: 20)', 'limit: Int'],
  ['Query.bills(sort:) sorts by due_at, which its rows do not have', ', "number", "-number"', ', "due_at"'],
  ['Bill has @stored(unique: "code"), but Bill has no code: String!', 'unique: "number"', 'unique: "code"'],
  [
    'Bill has @index(on: "due"), which is not a member of Bill',
    'unique: "number")',
    'unique: "number") @index(on: ["due"])',
  ],
  ['Bill has total_minor: Int!, but it is money: write Minor', 'Minor!', 'Int!'],
  ['Bill.note takes any text about a customer: add @personal', 'due_on: Date', 'note: String due_on: Date'],
  ['Bill refers to a customer by customer_id, but lacks @restricted', ' @restricted(by: "customer_id")', ''],
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
