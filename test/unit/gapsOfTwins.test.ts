import { parse } from 'graphql';
import { collections } from '../../src/resources';
import type { Resolvers } from '../../src/operations/run';
import { broken, gapsOf, SDL } from '../support/brokenSchema';

/* Breaks what goes with a stored type in the published schema, in one way after another: inputs, writes, pages, totals and names. */

const CHANGE =
  'change_quote(id: ID!, status: QuoteStatus @constraint(not_null: true)): Quote @rest(method: PATCH, path: "/quotes/:id") @access(scope: QUOTES_WRITE)';

/** The SDL with a further write. */
function withWrite(field: string): string {
  return SDL.replace('extend type Mutation {', `extend type Mutation { ${field}`);
}

const WRITES: Resolvers = {
  Mutation: { change_quote: () => null, change_product: () => null, make_product: () => null },
};

test.each<[string, string | RegExp, string, string]>([
  [
    'a member of an input that is not stored',
    /(input ProductUpsert \{)/,
    '$1 colour: String',
    'ProductUpsert.colour is no member of Product, so it would be lost: add it there, or remove it',
  ],
  [
    'a nested member of an input that is not stored',
    /(input AddressInput \{)/,
    '$1 floor: Int',
    'AddressInput.floor is no member of Address, so it would be lost: add it there, or remove it',
  ],
  [
    'a relation in an input',
    /(input CustomerUpsert \{)/,
    '$1 quotes: [ID!]',
    'CustomerUpsert.quotes is no member of Customer, so it would be lost: add it there, or remove it',
  ],
  [
    'a member of another type',
    /(input ProductUpsert \{[^]*?lead_time_days: )Int/,
    '$1String',
    'ProductUpsert.lead_time_days is String, but Product.lead_time_days is Int: use the same type',
  ],
  [
    'a list for a single value',
    /(input ProductUpsert \{[^}]*category: )String/,
    '$1[String!]',
    'ProductUpsert.category is [String!], but Product.category is String: use the same type',
  ],
  [
    'a text for an object',
    /(input CustomerUpsert \{[^}]*billing_address: )AddressInput/,
    '$1String',
    'CustomerUpsert.billing_address is String, but Customer.billing_address is Address: use the same type',
  ],
  [
    'a nested member of another type',
    /(input ContactInput \{[^}]*primary: )Boolean/,
    '$1String',
    'ContactInput.primary is String, but Contact.primary is Boolean!: use the same type',
  ],
  [
    'an input that takes longer texts',
    /(input ProductUpsert \{[^}]*name: String @constraint\(not_null: true, min_length: 1, max_length: )200/,
    '$1300',
    'ProductUpsert.name takes what Product.name excludes, which has max_length: 200: write that, too',
  ],
  [
    'an input without a minimum',
    /(input ProductUpsert \{[^]*?unit_price_minor: Minor) @constraint\(min: 0\)/,
    '$1',
    'ProductUpsert.unit_price_minor takes what Product.unit_price_minor excludes, which has min: 0: write that, too',
  ],
  [
    'an input without a pattern',
    /(input ContactInput \{[^}]*max_length: 200), pattern: "\\\\S"/,
    '$1',
    'ContactInput.name takes what Contact.name excludes, which has pattern: "\\\\S": write that, too',
  ],
  [
    'an input with a wider format',
    /(input CustomerUpsert \{[^}]*email: String @constraint\()format: "email", /,
    '$1',
    'CustomerUpsert.email takes what Customer.email excludes, which has format: "email": write that, too',
  ],
  [
    'a write that takes longer texts than are stored',
    /(open_request\(.*?subject: String @constraint\(min_length: 1, max_length: )200/,
    '$1300',
    'Mutation.open_request(subject:) takes what Request.subject excludes, which has max_length: 200: write that, too',
  ],
  [
    'a write with an object of other members',
    /(input RequestContactInput \{)/,
    '$1 role: String',
    'RequestContactInput.role is no member of RequestContact, so it would be lost: add it there, or remove it',
  ],
  [
    'a write that keys may make which were given to read',
    /(  upsert_products\(.*@access\(scope: )PRODUCTS_WRITE/,
    '$1PRODUCTS_READ',
    'Mutation.upsert_products has the scope PRODUCTS_READ, with which keys read Query.products: use another for writes',
  ],
  [
    'a member that no page has',
    /(type ProductPage \{)/,
    '$1 total: Int',
    'ProductPage.total is set by nothing, so it would be null: remove it, or add a resolver',
  ],
  [
    'a page with another name than its rows',
    /(type ProductPage \{)/,
    'type GoodsPage { data: [Product!]! has_more: Boolean! next_cursor: String } $1',
    'GoodsPage has rows of Product: rename it ProductPage',
  ],
  [
    'totals with a member that nothing sets',
    /(type QuoteTotals \{)/,
    '$1 next_cursor: String',
    'QuoteTotals.next_cursor is set by nothing, so it would be null: remove it, or add a resolver',
  ],
  [
    'totals without has_more',
    /(type QuoteTotals \{[^}]*)has_more: Boolean!/,
    '$1',
    'QuoteTotals has no has_more: add has_more: Boolean!',
  ],
  [
    'a group of totals that is never null',
    /(type QuoteTotal \{[^}]*status: QuoteStatus)/,
    '$1!',
    'QuoteTotal.status is QuoteStatus!, but null unless totals are grouped by it: remove !',
  ],
  [
    'a group of totals of another type',
    /(type QuoteTotal \{[^}]*status: )QuoteStatus/,
    '$1OrderStatus',
    'QuoteTotal.status is OrderStatus: write QuoteStatus',
  ],
])('%s is reported', (_title, from, to, sentence) => {
  expect(gapsOf(broken(from, to))).toContain(sentence);
});

test.each<[string, string, string]>([
  [
    'a PATCH of something that is not stored',
    CHANGE.replace('status:', 'reason: String, status:'),
    'Mutation.change_quote(reason:) is no member of Quote, which a PATCH sets: add it there, or use POST',
  ],
  [
    'a PATCH that must have a member',
    CHANGE.replace('QuoteStatus @constraint(not_null: true)', 'QuoteStatus!'),
    'Mutation.change_quote(status:) is required, but a PATCH takes only what changes: make it nullable, with @constraint(not_null: true) if null is no value',
  ],
  [
    'a PATCH with null for what is never null',
    CHANGE.replace(' @constraint(not_null: true)', ''),
    'Mutation.change_quote(status:) takes null, but Quote.status is never null: add @constraint(not_null: true)',
  ],
  [
    'a PATCH with another type',
    CHANGE.replace('QuoteStatus', 'OrderStatus'),
    'Mutation.change_quote(status:) is OrderStatus, but Quote.status is QuoteStatus!: use the same type',
  ],
  [
    'a change of one object with another scope than the bulk call',
    'change_product(id: ID!, active: Boolean @constraint(not_null: true)): Product @rest(method: PATCH, path: "/products/:id") @access(scope: CUSTOMERS_WRITE)',
    'Mutation.change_product has the scope CUSTOMERS_WRITE, but Mutation.upsert_products changes each Product with PRODUCTS_WRITE: use the same scope',
  ],
])('%s is reported', (_title, field, sentence) => {
  expect(gapsOf(parse(withWrite(field)), collections, WRITES)).toBe(`invalid schema: ${sentence}`);
});

test.each([
  CHANGE,
  'make_product(name: String @constraint(max_length: 200), weight: Int): Product @access(scope: PRODUCTS_WRITE)',
])('the write %s has no gap', (field) => {
  expect(gapsOf(parse(withWrite(field)), collections, WRITES)).toBe('none');
});

test('a field of a page that a resolver makes has no gap', () => {
  const sdl = broken(/(type ProductPage \{)/, '$1 total: Int');
  expect(gapsOf(sdl, collections, { ProductPage: { total: () => 1 } })).toBe('none');
});
