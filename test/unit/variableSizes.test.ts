import { Kind, type OperationDefinitionNode, parse } from 'graphql';
import type { AppError } from '../../src/errors';
import { publishedSchemas } from '../../src/published';
import { refuseLargeVariables } from '../../src/schema/variableSizes';

const { graphql: SCHEMA } = publishedSchemas();
const PRODUCTS = 'mutation ($p: [ProductUpsert!]!) { upsert_products(products: $p) { failed } }';
const CUSTOMERS = 'mutation ($c: [CustomerUpsert!]!) { upsert_customers(customers: $c) { failed } }';
const ONE = 'mutation ($c: CustomerUpsert!) { upsert_customers(customers: [$c]) { failed } }';
const CONTACTS =
  'mutation ($c: [ContactInput!]) { upsert_customers(customers: [{ external_ref: "a", contacts: $c }]) { failed } }';
const SKUS = 'query ($s: [String!]) { products(sku: $s) { data { id } } }';
const IN_FRAGMENT = 'query ($s: [String!]) { ...A } fragment A on Query { products(sku: $s) { data { id } } }';

const many = (count: number, value: unknown = {}): unknown[] => Array.from({ length: count }, () => value);

/** The code of a refusal and its faults; undefined if there is none. */
function refusalOf(text: string, values: Record<string, unknown>): readonly string[] | undefined {
  const document = parse(text);
  const operation = document.definitions.find(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  )!;
  try {
    refuseLargeVariables(SCHEMA, document, operation, values);
  } catch (error) {
    const { code, extras } = error as AppError;
    return [code, ...(extras.errors ?? []).map((fault) => `${fault.parameter ?? fault.pointer!} ${fault.code}`)];
  }
  return undefined;
}

test.each<[string, string, Record<string, unknown>, readonly string[] | undefined]>([
  ['elements of a bulk call', PRODUCTS, { p: many(1001) }, ['validation_failed', '/p length']],
  ['values of a filter', SKUS, { s: many(21, 'a') }, ['invalid_request', 's length']],
  ['values of a filter in a fragment', IN_FRAGMENT, { s: many(21, 'a') }, ['invalid_request', 's length']],
  [
    'lists inside elements',
    CUSTOMERS,
    { c: [{ contacts: many(101) }, {}, { contacts: many(101) }] },
    ['validation_failed', '/c/0/contacts length', '/c/2/contacts length'],
  ],
  ['a list inside an object', ONE, { c: { contacts: many(101) } }, ['validation_failed', '/c/contacts length']],
  ['a list for a member', CONTACTS, { c: many(101) }, ['validation_failed', '/c length']],
  ['elements of the wrong type', PRODUCTS, { p: many(1001, 0) }, ['validation_failed', '/p length']],
  [
    'objects in lists that are short enough',
    CUSTOMERS,
    { c: many(1000, { contacts: many(19) }) },
    ['invalid_request', 'variables size'],
  ],
])('too many %s are refused before they are coerced', (_title, text, values, refusal) => {
  expect(refusalOf(text, values)).toEqual(refusal);
});

test.each<[string, string, Record<string, unknown>]>([
  ['a whole bulk call', PRODUCTS, { p: many(1000) }],
  ['a filter of the most values', SKUS, { s: many(20, 'a') }],
  ['a single value in place of a list', PRODUCTS, { p: {} }],
  ['customers with contacts', CUSTOMERS, { c: many(1000, { contacts: many(18) }) }],
  [
    'a list that another argument takes',
    'mutation ($t: [String!]!) { create_webhook_endpoint(url: "", types: $t) { endpoint { id } } create_api_key(name: "", scopes: $t) { key } }',
    { t: many(50, 'a') },
  ],
  ['null', PRODUCTS, { p: null }],
  ['no value', PRODUCTS, {}],
  ['variables that are not declared', SKUS, { other: many(100_000) }],
])('%s is not refused for its size', (_title, text, values) => {
  expect(refusalOf(text, values)).toBeUndefined();
});

test('at most 100 lists that are too long are listed', () => {
  expect(refusalOf(CUSTOMERS, { c: many(150, { contacts: many(101) }) })).toHaveLength(1 + 100);
});
