import { broken, gapsOf } from '../support/brokenSchema';

/* Breaks what leads to stored objects in the published schema, in one way after another. */

test.each<[string, string | RegExp, string, string]>([
  [
    'a relation without @access',
    'customer: Customer @graphql_only @access(scope: CUSTOMERS_READ)',
    'customer: Customer @graphql_only',
    'Order.customer leads to the type Customer, which any key could read: add @access with the scope of reading it',
  ],
  [
    'a relation with @access and no scope',
    'quote: Quote @graphql_only @access(scope: QUOTES_READ)',
    'quote: Quote @graphql_only @access',
    'Order.quote leads to the type Quote, which any key could read: add @access with the scope of reading it',
  ],
  [
    'a nested list without @access',
    '): RequestPage @graphql_only @access(scope: REQUESTS_READ)',
    '): RequestPage @graphql_only',
    'Customer.requests leads to the type Request, which any key could read: add @access with the scope of reading it',
  ],
  [
    'a relation inside a line',
    /(type OrderLine \{)/,
    '$1 product_id: ID product: Product @graphql_only @access(scope: PRODUCTS_READ)',
    'OrderLine.product leads to the type Product, but only fields of types with @stored can: move it to the one around OrderLine',
  ],
  [
    'a nested list inside a line',
    /(type QuoteLine \{)/,
    '$1 orders: OrderPage @graphql_only',
    'QuoteLine.orders leads to the type Order, but only fields of types with @stored can: move it to the one around QuoteLine',
  ],
  [
    'a relation that must be there',
    'quote: Quote @graphql_only',
    'quote: Quote! @graphql_only',
    'Order.quote is non-null, but what it refers to may be gone: remove !',
  ],
  [
    'a list of relations',
    'quote: Quote @graphql_only',
    'quote: [Quote!] @graphql_only',
    'Order.quote is a list of Quote: use QuotePage, or a single object',
  ],
  [
    'a relation with an argument',
    'quote: Quote @graphql_only',
    'quote(number: String): Quote @graphql_only',
    'Order.quote takes number, which has no effect: remove it',
  ],
  [
    'a relation by an id that lists omit',
    'quote_id: ID',
    'quote_id: ID @graphql_only(on: LISTS)',
    'Order.quote is referred to by quote_id, which lists omit: remove its @graphql_only(on: LISTS)',
  ],
  [
    'a relation that REST would have outside lists',
    'quote: Quote @graphql_only',
    'quote: Quote @graphql_only(on: LISTS)',
    'Order.quote has @graphql_only(on: LISTS), but REST never has other objects: remove (on: LISTS)',
  ],
  [
    'a nested list that REST would have outside lists',
    '): RequestPage @graphql_only',
    '): RequestPage @graphql_only(on: LISTS)',
    'Customer.requests has @graphql_only(on: LISTS), but REST never has other objects: remove (on: LISTS)',
  ],
])('%s is reported', (_title, from, to, sentence) => {
  expect(gapsOf(broken(from, to))).toContain(sentence);
});
