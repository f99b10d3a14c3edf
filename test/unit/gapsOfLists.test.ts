import { parse } from 'graphql';
import { DEFAULT_LIMIT } from '../../src/database/pagination';
import { PAGE_SIZE } from '../../src/schema/gaps/listGaps';
import { broken, gapsOf, SDL } from '../support/brokenSchema';

/* Breaks lists and totals of the published schema in one way after another. */

test.each<[string, string | RegExp, string, string]>([
  [
    'another default of limit than the size of a page',
    /(  orders\(q.*?)default: 20/,
    '$1default: 50',
    'Query.orders has a limit with default: 50, but a page without it has 20 rows: write default: 20',
  ],
  [
    'another default of limit in a nested list',
    /(type Customer [^]*?quotes\(.*?)default: 20/,
    '$1default: 10',
    'Customer.quotes has a limit with default: 10, but a page without it has 20 rows: write default: 20',
  ],
  [
    'another default of limit in a list for users',
    /(audit_events\(.*?)default: 20/,
    '$1default: 50',
    'Query.audit_events has a limit with default: 50',
  ],
  [
    'a limit without a maximum',
    /(  orders\(q.*?)max: 100, /,
    '$1',
    'Query.orders has a limit without min, max and default: add @constraint(min: 1, max: 100, default: 20) to it',
  ],
  [
    'a limit of something else without bounds',
    /(product_sales\(.*?limit: Int) @constraint\([^)]*\)/,
    '$1',
    'Query.product_sales has a limit without min, max and default: add @constraint',
  ],
  [
    'a list without limit',
    /(  orders\(q.*?), limit: Int @constraint\([^)]*\)/,
    '$1',
    'Query.orders is a list without limit: add limit: Int @constraint(min: 1, max: 100, default: 20)',
  ],
  [
    'a list without cursor',
    /(  orders\(q.*?), cursor: String @constraint\([^)]*\)/,
    '$1',
    'Query.orders is a list without cursor: add cursor: String @constraint(max_length: 2048)',
  ],
  [
    'a page without next_cursor',
    /(type OrderPage [^}]*)next_cursor: String/,
    '$1',
    'OrderPage has no next_cursor: add next_cursor: String',
  ],
  [
    'a page without has_more',
    /(type OrderPage [^}]*)has_more: Boolean!/,
    '$1',
    'OrderPage has no has_more: add has_more: Boolean!',
  ],
  [
    'a page that must have a next one',
    /(type OrderPage [^}]*next_cursor: String)/,
    '$1!',
    'OrderPage.next_cursor is String!: write next_cursor: String',
  ],
  [
    'a sort by a number',
    /(  quotes\(q.*)"number", "-number"/,
    '$1"total_minor"',
    'Query.quotes(sort:) sorts by total_minor, which is Minor: pages can only continue after a text or a time',
  ],
  [
    'a sort by a list',
    '"name", "-name"]',
    '"contacts"]',
    'sorts by contacts, which is Contact: pages can only continue after a text or a time',
  ],
  [
    'a sort by a member that may be null',
    /(  quotes\(q.*)"number", "-number"/,
    '$1"-sent_at"',
    'Query.quotes(sort:) sorts by sent_at, which may be null: no page could continue after such a row',
  ],
  [
    'a sort by a member that lists omit',
    /(type Quote [^]*?number: String! @constraint\([^)]*\))/,
    '$1 @graphql_only(on: LISTS)',
    'Query.quotes(sort:) sorts by number, which lists omit: remove its @graphql_only(on: LISTS)',
  ],
  [
    'a sort by any text',
    /(  requests\(q.*?sort: String) @constraint\([^)]*\)/,
    '$1',
    'Query.requests(sort:) takes any text: add @constraint(one_of:) with the members that it sorts by',
  ],
  [
    'several sorts at a time',
    /(  requests\(q.*?sort: )String/,
    '$1[String!]',
    'Query.requests(sort:) is not a String: a list has one sort at a time',
  ],
  [
    'two beginnings of one span',
    'created_before: DateTime @filter(member: "created_at", by: BEFORE)',
    'created_after: DateTime @filter(member: "created_at", by: SINCE)',
    'Query.quotes(created_after:) is a second SINCE of created_at, beside created_since: remove one of them',
  ],
  [
    'two ends of one span',
    'created_since: DateTime @filter(member: "created_at", by: SINCE)',
    'created_until: DateTime @filter(member: "created_at", by: BEFORE)',
    'Query.quotes(created_before:) is a second BEFORE of created_at, beside created_until: remove one of them',
  ],
  [
    'totals with a filter',
    /(quote_totals\()/,
    '$1status: QuoteStatus @filter ',
    'Query.quote_totals(status:) has no effect: totals take only group_by, from and to',
  ],
  [
    'totals with an argument of another type',
    /(quote_totals\(.*?from: )DateTime/,
    '$1Date',
    'Query.quote_totals(from:) is Date: totals take it as DateTime',
  ],
  [
    'totals that nothing fills',
    /(type QuoteTotal \{[^}]*)subtotal_minor: Minor!/,
    '$1fee_minor: Minor!',
    'Query.quote_totals has rows with fee_minor, but Quote has no such Minor member to sum: remove it',
  ],
])('%s is reported', (_title, from, to, sentence) => {
  expect(gapsOf(broken(from, to))).toContain(sentence);
});

test('totals without amounts are reported', () => {
  const sdl = SDL.replace(/type QuoteTotal \{[^}]*\}/, (type) => type.replaceAll(/\w+_minor: Minor!/g, ''));
  expect(gapsOf(parse(sdl))).toBe(
    'invalid schema: Query.quote_totals sums nothing: its rows need Minor members that Quote has',
  );
});

test('a page has as many rows as the sentences say', () => {
  expect(PAGE_SIZE).toBe(DEFAULT_LIMIT);
});
