import { callerOf, makeKey, makeOrganisation } from '../support/factories';
import { late, served, startGateway } from '../support/gateway';

const QUERY = '{ me { key { id } } }';

const gateway = served();
const organisation = late(() => makeOrganisation(gateway));

/** A key's remaining rate limit after a request. */
async function left(
  key: string,
  body: { query: string; operationName?: string; variables?: unknown },
): Promise<number> {
  const { headers } = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
  return Number(headers.get('x-ratelimit-remaining'));
}

describe('a GraphQL request costs', () => {
  const HUNDREDS = 'query($n: Int) { orders(limit: $n) { data { customer { orders(limit: $n) { data { id } } } } } }';
  const bigFragment = `fragment F on Query { a: ${QUERY.slice(2, -2)} b: ${QUERY.slice(2, -2)} }`;
  test.each([
    [1, 'one root field', QUERY, {}],
    [1, 'only __typename', '{ __typename }', {}],
    [2, 'two root fields', '{ me { key { id } } products { has_more } }', {}],
    [2, 'a root field twice', '{ me { key { id } } me { key { name } } }', {}],
    [3, 'aliases', '{ a: me { key { id } } b: me { key { id } } c: me { key { id } } }', {}],
    [2, 'fragments', `${bigFragment} query { ...F }`, {}],
    [4, 'a fragment twice', `${bigFragment} query { ...F ...F }`, {}],
    [2, 'inline fragments', '{ ... { me { key { id } } ... on Query { __typename } } }', {}],
    [1, 'the named operation', `query A ${QUERY} query B { a: __typename b: __typename }`, { operationName: 'A' }],
    [
      2,
      'the other named operation',
      `query A ${QUERY} query B { a: __typename b: __typename }`,
      { operationName: 'B' },
    ],
    [1, 'a root field that is skipped', '{ me @skip(if: true) { key { id } } }', {}],
    [2, 'introspection', '{ __schema { types { name } } __type(name: "Me") { name } }', {}],
    [2, 'mutations', 'mutation { a: open_request(text: "") { id } b: open_request(text: "") { id } }', {}],
    [11, '10,100 rows of nested lists', HUNDREDS, { variables: { n: 100 } }],
    [
      1,
      'nested lists with too many rows',
      HUNDREDS.replace('{ id }', '{ id customer { orders(limit: $n) { has_more } } }'),
      { variables: { n: 100 } },
    ],
    [1, 'a document with a syntax error', '{', {}],
    [1, 'a document that does not match the schema', '{ a: nothing b: nothing }', {}],
    [1, 'an unknown operation name', `query A ${QUERY}`, { operationName: 'C' }],
    [1, 'several operations without a name', `query A ${QUERY} query B ${QUERY}`, {}],
  ])('%i: %s', async (cost, _title, query, extra) => {
    const { key } = await makeKey(gateway, organisation);
    const [before, after] = [await left(key, { query: QUERY }), await left(key, { query, ...extra })];
    expect(before - after).toBe(cost);
    expect(await left(key, { query: QUERY })).toBe(after - 1);
  });
});

describe('a GraphQL request over 20,000 rows', () => {
  const QUERY = `{ me { key { id } } orders(limit: 100) { data { customer { orders(limit: 100) { data {
    customer { quotes(limit: 100) { data { id } } } } } } } } }`;

  test('is rejected before it runs, naming the number of rows and the nested lists', async () => {
    const caller = await callerOf(gateway, organisation);
    const { status, body } = await caller.graphql(QUERY);
    expect(status).toBe(400);
    expect(body).toEqual({
      errors: [
        {
          message: expect.stringContaining(
            'The query can return 1,010,100 rows; the limit is 20,000. The rows of nested lists multiply: orders.data.customer.orders.data.customer.quotes (1,000,000)',
          ),
          extensions: { code: 'invalid_request', status: 400, request_id: expect.any(String) },
        },
      ],
    });
  });

  test('is charged in full before it runs, or does not run', async () => {
    const narrow = await startGateway({ RATE_LIMIT_PER_MINUTE: '10' });
    try {
      const caller = await callerOf(narrow, organisation);
      const { status, body, headers } = await caller.graphql(
        QUERY.replace(
          /orders\(limit: 100\) { data {\s*customer { quotes/,
          'orders(limit: 1) { data { customer { quotes',
        ),
      );
      expect([status, body.data]).toEqual([429, undefined]);
      expect(headers.get('retry-after')).toMatch(/^\d+$/);
    } finally {
      await narrow.stop();
    }
  });
});
