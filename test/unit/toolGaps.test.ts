import { broken, gapsOf } from '../support/brokenSchema';

/* Operations that contradict their @mcp; test/unit/gaps.test.ts breaks the schema in all other ways. */

test.each<[string, string | RegExp, string, string]>([
  [
    'a tool with a field that its rows lack',
    '@mcp(fields: ["sku"',
    '@mcp(fields: ["colour"',
    'Query.products has @mcp(fields:) with colour, which its rows lack',
  ],
  [
    'a tool with fields but no rows',
    /(quote\(id: ID!\): Quote)/,
    '$1 @mcp(fields: ["id"])',
    'Query.quote has @mcp(fields:) but returns no list: its type has no data',
  ],
  [
    'a tool with a page size but no limit argument',
    /(quote\(id: ID!\): Quote)/,
    '$1 @mcp(limit: 10)',
    'Query.quote has @mcp(limit:) but no argument limit',
  ],
  [
    'a tool with a page size over the limit',
    '"created_at"], limit: 10',
    '"created_at"], limit: 101',
    'Query.quotes has @mcp(limit: 101), which limit refuses',
  ],
  [
    'a tool for users',
    /(api_keys\([^)]*\([^)]*\)[^]*?\): ApiKeyPage)/,
    '$1 @mcp',
    'Query.api_keys is for users but has @mcp',
  ],
  [
    'an argument that tools use themselves',
    'open_request(text: String!',
    'open_request(idempotency_key: String, text: String!',
    'Mutation.open_request takes idempotency_key, which tools use themselves: rename it',
  ],
  [
    'a tool that is not a root field',
    /(type Quote [^]*?)id: ID!/,
    '$1id: ID! @mcp',
    'Quote.id has @mcp, which is for root fields',
  ],
  [
    "outsiders' text that is not a string",
    'message_count: Int!',
    'message_count: Int! @untrusted',
    'Request.message_count has @untrusted, which is for fields of type String',
  ],
])('%s', (_title, from, to, sentence) => {
  expect(gapsOf(broken(from, to))).toContain(sentence);
});
