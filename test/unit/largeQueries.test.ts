import { type DocumentNode, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { createCostOf } from '../../src/graphql/queryCost';
import { publishedSchemas } from '../../src/published';

const costOf = createCostOf(publishedSchemas().graphql);

function turnOf(document: DocumentNode): string | undefined {
  const isOperation = ({ kind }: DocumentNode['definitions'][number]): boolean => kind === Kind.OPERATION_DEFINITION;
  return costOf(document, document.definitions.find(isOperation) as OperationDefinitionNode).turn;
}

test.each([
  ['one object', '{ quote(id: "1") { id lines { id } } }'],
  ['one page', '{ orders(limit: 100) { data { id customer { id name } } } }'],
  ['two pages', '{ orders { has_more } quotes { has_more } }'],
  ['a list of one object', '{ customer(id: "1") { orders(limit: 100) { data { id } } } }'],
  ['the caller', '{ me { key { id } } }'],
  ['the schema', '{ __schema { types { name } } }'],
  ['a page of rows without lists', '{ quotes { data { id customer { name } } } }'],
  ['a write', 'mutation { open_request(text: "Hello") { id } }'],
])('a query of %s needs no turn', (_name, text) => {
  expect(turnOf(parse(text))).toBeUndefined();
});

test.each([
  ['a total', '{ order_totals { data { count } } }'],
  ['sales', '{ product_sales { data { sku } } }'],
  ['a total and one object', '{ me { key { id } } quote_totals { data { count } } }'],
  ['an aliased total', '{ sums: order_totals { data { count } } }'],
  ['nested lists', '{ customers { data { orders { data { id } } } } }'],
  ['deeper nested lists', '{ orders { data { customer { quotes { data { id } } } } } }'],
  [
    'nested lists in fragments',
    '{ ...A } fragment B on Customer { orders { has_more } } fragment A on Query { customers { data { ...B } } }',
  ],
  ['a total in a fragment without a type', '{ ... { ... on Query { order_totals { has_more } } } }'],
])('a query of %s takes a turn', (_name, text) => {
  expect(turnOf(parse(text))).toBe('query');
});

test.each([
  ['a page with lines', '{ quotes { data { id lines { id } } } }'],
  ['a page with lines, in a fragment', '{ quotes { data { ...A } } } fragment A on Quote { ... { lines { id } } }'],
  ['three lists beside each other', '{ a: quotes { has_more } b: quotes { has_more } orders { has_more } }'],
  ['a page of one object with lines', '{ customer(id: "1") { orders { data { lines { id } } } } }'],
])('%s takes the turn of a page', (_name, text) => {
  expect(turnOf(parse(text))).toBe('page');
});

test('each fragment is visited once, however often it is spread', () => {
  const steps = 200;
  const fragments = Array.from(
    { length: steps },
    (_none, at) => `fragment F${String(at)} on Query { ...F${String(at + 1)} ...F${String(at + 1)} }`,
  );
  const text = `{ ...F0 } ${fragments.join(' ')} fragment F${String(steps)} on Query { order_totals { has_more } }`;
  expect(turnOf(parse(text))).toBe('query');
});
