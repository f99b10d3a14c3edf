import { makeKey, makeOrganisation } from '../../support/factories';
import { late, served } from '../../support/gateway';

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
    [3, 'aliases', '{ a: me { key { id } } b: me { key { id } } c: me { key { id } } }', {}],
    [4, 'a fragment twice', `${bigFragment} query { ...F ...F }`, {}],
    [1, 'the named operation', `query A ${QUERY} query B { a: __typename b: __typename }`, { operationName: 'A' }],
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
  ])('%i: %s', async (cost, _title, query, extra) => {
    const { key } = await makeKey(gateway, organisation);
    const [before, after] = [await left(key, { query: QUERY }), await left(key, { query, ...extra })];
    expect(before - after).toBe(cost);
    expect(await left(key, { query: QUERY })).toBe(after - 1);
  });
});
