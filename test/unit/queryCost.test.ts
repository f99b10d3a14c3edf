import { buildSchema, getOperationAST, type OperationDefinitionNode, parse } from 'graphql';
import { createCostOf } from '../../src/graphql/queryCost';
import { publishedSchemas } from '../../src/gateway/schemas';

const SCHEMA = buildSchema(`
  directive @aggregates on FIELD_DEFINITION
  directive @constraint(min: Float, max: Float, default: Int) on ARGUMENT_DEFINITION
  type Query { orders(limit: Int @constraint(min: 1, max: 100, default: 20)): OrderPage, order: Order, me: Int, sales: Int @aggregates }
  type Mutation { open(text: String): Order }
  type OrderPage { data: [Order!]!, has_more: Boolean }
  type Order { id: ID, customer: Customer, lines: [Line!]! }
  type Line { id: ID }
  type Customer { orders(limit: Int @constraint(min: 1, max: 100, default: 20)): OrderPage, name: String }
`);
const costOf = createCostOf(SCHEMA);

function points(text: string, variables: Record<string, unknown> = {}, of = costOf): number {
  const document = parse(text);
  return of(document, getOperationAST(document)!).points(variables);
}

/** The error message of a query, the only place where its rows are visible. */
function refusal(text: string, variables?: Record<string, unknown>, of = costOf): string {
  try {
    return `${String(points(text, variables, of))} points`;
  } catch (error) {
    return (error as Error).message;
  }
}

const aliases = (count: number, field: string): string =>
  Array.from({ length: count }, (_, at) => `a${String(at)}: ${field}`).join(' ');
const NESTED = 'data { customer { orders(limit: 100) { data { id } } } }';

describe('points', () => {
  test.each<[number, string, string, Record<string, unknown>]>([
    [1, 'a field without lists', '{ me }', {}],
    [2, 'two fields', '{ me order { lines { id } } }', {}],
    [1, 'a page', '{ orders(limit: 100) { data { lines { id } } } }', {}],
    [
      2,
      '1,000 rows in ten pages of one field',
      '{ order { customer { orders(limit: 9) { data { customer { orders(limit: 100) { data { customer { orders(limit: 1) { has_more } } } } } } } } x: customer { orders(limit: 1) { has_more } } } }',
      {},
    ],
    [11, '10,100 rows', `{ orders(limit: 100) { ${NESTED} } }`, {}],
    [
      11,
      'the same in fragments',
      `{ orders(limit: 100) { ...F } } fragment F on OrderPage { data { ...G } } fragment G on Order { customer { orders(limit: 100) { data { id } } } }`,
      {},
    ],
    [11, 'the same in inline fragments', `{ ... { ... on Query { orders(limit: 100) { ... { ${NESTED} } } } } }`, {}],
    [
      22,
      'the same with two aliases, less one row',
      `{ a: orders(limit: 100) { ${NESTED} } b: orders(limit: 99) { ${NESTED.replace('100', '99')} } }`,
      {},
    ],
    [11, 'the same, skipped', `{ orders(limit: 100) @skip(if: true) { ${NESTED} } }`, {}],
    [
      11,
      'limits in variables',
      'query($n: Int) { orders(limit: $n) { data { customer { orders(limit: $n) { has_more } } } } }',
      { n: 100 },
    ],
    [1, 'omitted limits', '{ orders { data { customer { orders { has_more } } } } }', {}],
    [
      9,
      'omitted limits, three levels deep',
      '{ orders { data { customer { orders { data { customer { orders { has_more } } } } } } } }',
      {},
    ],
    [
      9,
      'limits of null',
      '{ orders(limit: null) { data { customer { orders(limit: null) { data { customer { orders(limit: null) { has_more } } } } } } } }',
      {},
    ],
    [3, 'a list in a mutation', `mutation { open(text: "x") { customer { orders(limit: 20) { ${NESTED} } } } }`, {}],
  ])('%d for %s', (expected, _title, text, variables) => {
    expect(points(text, variables)).toBe(expected);
  });

  const QUERY = 'query($n: Int) { orders(limit: $n) { data { customer { orders(limit: 100) { has_more } } } } }';
  test.each<[number, string, Record<string, unknown>]>([
    [3, 'omitted', {}],
    [3, 'null', { n: null }],
    [6, 'a number', { n: 50 }],
    [1, 'zero', { n: 0 }],
    [1, 'negative', { n: -1_000_000 }],
    [11, 'huge', { n: 1e300 }],
    [11, 'a fraction', { n: 0.5 }],
    [11, 'a string', { n: '1' }],
    [11, 'a list', { n: [1] }],
  ])('%d if the limit is a variable that is %s', (expected, _title, variables) => {
    expect(points(QUERY, variables)).toBe(expected);
  });

  test.each<[number, string, Record<string, unknown>]>([
    [6, 'omitted', {}],
    [3, 'null', { n: null }],
    [11, 'given', { n: 100 }],
  ])('%d if the variable has the default 50 and is %s', (expected, _title, variables) => {
    expect(points(QUERY.replace('Int', 'Int = 50'), variables)).toBe(expected);
  });

  test('are counted per operation, with its own defaults, if two share a fragment', () => {
    const document = parse(`query A($n: Int = 100) { ...F } query B($n: Int = 1) { ...F }
      fragment F on Query { orders(limit: $n) { ${NESTED} } }`);
    const [a, b] = document.definitions as OperationDefinitionNode[];
    expect([
      costOf(document, a!).points({}),
      costOf(document, b!).points({}),
      costOf(document, a!).points({ n: 50 }),
    ]).toEqual([11, 1, 6]);
  });
});

describe('over 20,000 rows', () => {
  const three = (inner: string): string =>
    `data { customer { orders(limit: 100) { data { customer { orders(limit: ${inner}) { has_more } } } } } }`;

  test.each<[string, string, string]>([
    [
      '20,000 rows are allowed',
      `{ orders(limit: 1) { ${three('99')} } a: orders(limit: 98) { ${NESTED} } b: orders(limit: 100) { has_more } c: orders(limit: 1) { has_more } }`,
      '24 points',
    ],
    [
      'a million rows are rejected, and the lists are named with their rows',
      `{ orders(limit: 100) { ${three('100')} } }`,
      'The query can return 1,010,100 rows; the limit is 20,000. The rows of nested lists multiply: orders.data.customer.orders.data.customer.orders (1,000,000), orders.data.customer.orders (10,000), orders (100). Lower the `limit` of these lists, or split the query.',
    ],
    [
      'a list is named by its alias, once for all fragments',
      `{ x: orders(limit: 100) { ...F ...F } } fragment F on OrderPage { data { customer { y: orders(limit: 100) { has_more } } } }`,
      'The query can return 20,100 rows; the limit is 20,000. The rows of nested lists multiply: x.data.customer.y (20,000), x (100). Lower the `limit` of these lists, or split the query.',
    ],
    [
      'three of many lists are named',
      `{ ${Array.from({ length: 20 }, (_, at) => `a${String(at)}: orders(limit: 100) { ${NESTED} }`).join(' ')} }`,
      'The query can return 202,000 rows; the limit is 20,000. The rows of nested lists multiply: a0.data.customer.orders (10,000), a1.data.customer.orders (10,000), a2.data.customer.orders (10,000) and 37 more. Lower the `limit` of these lists, or split the query.',
    ],
  ])('%s', (_title, text, expected) => {
    expect(refusal(text)).toBe(expected);
  });
});

test('a limit argument without bounds is an error when the schema is read', () => {
  const schema = buildSchema('type Query { rows(limit: Int): Int }');
  expect(() => createCostOf(schema)).toThrow('the limit of Query.rows needs min, max and default in @constraint');
});

test.each<[number, string, string]>([
  [1, 'tags of a page', '{ customers(limit: 100) { data { etag } } }'],
  [4, '30 tags of a page', `{ customers(limit: 100) { data { ${aliases(30, 'etag')} } } }`],
  [
    1,
    'members of a page, 30 times',
    `{ customers(limit: 100) { data { id ${aliases(29, 'name')} ...F } } } fragment F on Customer { a: __typename }`,
  ],
  [4, 'cursors of events', `{ events(limit: 100) { data { ...F } } } fragment F on Event { ${aliases(30, 'cursor')} }`],
  [4, 'tags of what rows refer to', `{ orders(limit: 100) { data { customer { ${aliases(30, 'etag')} } } } }`],
  [1, 'tags of one object', `{ customer(id: "1") { ${aliases(30, 'etag')} } }`],
])('%d points for %s, since values that are worked out count as rows', (expected, _title, text) => {
  const document = parse(text);
  expect(createCostOf(publishedSchemas().graphql)(document, getOperationAST(document)!).points({})).toBe(expected);
});

test('values that are worked out are not refused for their number', () => {
  const page = 'requests(limit: 100) { data { etag } }';
  const document = parse(`{ customers(limit: 100) { data { etag ${page} } } }`);
  expect(createCostOf(publishedSchemas().graphql)(document, getOperationAST(document)!).points({})).toBe(1 + 20);
});

test.each<[string, string, string]>([
  ['20 points', 'twenty times all groups', `{ ${aliases(20, 'order_totals { data { count customer { name } } }')} }`],
  ['2 points', 'a list in each group', `{ order_totals(limit: 10) { ${NESTED} } }`],
  ['2 points', 'a value worked out in each group', '{ order_totals { data { customer { etag } } } }'],
  [
    'The query can return 21,000 rows; the limit is 20,000. The rows of nested lists multiply: order_totals.data.customer.orders (21,000).',
    'a list in each of all groups',
    '{ order_totals { data { customer { orders(limit: 21) { data { id } } } } } }',
  ],
])('%s for %s of totals, whose own rows cost nothing', (expected, _title, text) => {
  expect(refusal(text, {}, createCostOf(publishedSchemas().graphql))).toContain(expected);
});

describe('the turn of a query', () => {
  const costOf = createCostOf(publishedSchemas().graphql);
  test.each<[string | undefined, string, string]>([
    [undefined, 'one object', '{ quote(id: "1") { id lines { id } } }'],
    [undefined, 'one page', '{ orders(limit: 100) { data { id customer { id name } } } }'],
    [undefined, 'two pages', '{ orders { has_more } quotes { has_more } }'],
    [undefined, 'a list of one object', '{ customer(id: "1") { orders(limit: 100) { data { id } } } }'],
    [undefined, 'the caller', '{ me { key { id } } }'],
    [undefined, 'the schema', '{ __schema { types { name } } }'],
    [undefined, 'a page of rows without lists', '{ quotes { data { id customer { name } } } }'],
    [undefined, 'a write', 'mutation { open_request(text: "Hello") { id } }'],
    [undefined, 'a bulk call', 'mutation { upsert_products(products: []) { results { id errors { code } } } }'],
    [
      'page',
      'three lists of objects that are written',
      'mutation { update_customer(id: "1") { ...A b: contacts { id } } } fragment A on Customer { contacts { id } c: contacts { id } }',
    ],
    [
      undefined,
      'three lists of an object that is read',
      '{ customer(id: "1") { a: contacts { id } b: contacts { id } c: contacts { id } } }',
    ],
    ['query', 'a total', '{ order_totals { data { count } } }'],
    ['query', 'sales', '{ product_sales { data { sku } } }'],
    ['query', 'a total and one object', '{ me { key { id } } quote_totals { data { count } } }'],
    ['query', 'an aliased total', '{ sums: order_totals { data { count } } }'],
    ['query', 'nested lists', '{ customers { data { orders { data { id } } } } }'],
    ['query', 'deeper nested lists', '{ orders { data { customer { quotes { data { id } } } } } }'],
    [
      'query',
      'nested lists in fragments',
      '{ ...A } fragment B on Customer { orders { has_more } } fragment A on Query { customers { data { ...B } } }',
    ],
    ['query', 'a total in a fragment without a type', '{ ... { ... on Query { order_totals { has_more } } } }'],
    ['page', 'a page with lines', '{ quotes { data { id lines { id } } } }'],
    [
      'page',
      'a page with lines, in a fragment',
      '{ quotes { data { ...A } } } fragment A on Quote { ... { lines { id } } }',
    ],
    ['page', 'three lists beside each other', '{ a: quotes { has_more } b: quotes { has_more } orders { has_more } }'],
    ['page', 'a page of one object with lines', '{ customer(id: "1") { orders { data { lines { id } } } } }'],
  ])('is %s for %s', (turn, _title, text) => {
    const document = parse(text);
    expect(costOf(document, getOperationAST(document)!).turn).toBe(turn);
  });
});
