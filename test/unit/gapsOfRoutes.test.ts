import { parse } from 'graphql';
import { broken, gapsOf, SDL } from '../support/brokenSchema';

/* Breaks routes of the published schema, or adds broken ones, in one way after another. */

/** A read and a write, as a field of Query and of Mutation. */
const read = (field: string): string => `extend type Query { ${field} @access(scope: QUOTES_READ) }`;
const write = (field: string): string => `extend type Mutation { ${field} @access(scope: QUOTES_WRITE) }`;

test.each<[string, string | RegExp, string, string]>([
  [
    'a parameter that is not a whole word of the path',
    '@rest(path: "/quotes/:id")',
    '@rest(path: "/quotes/:id-x")',
    'Query.quote has @rest(path: "/quotes/:id-x"): use /words and /:arguments',
  ],
  [
    'a result that is created by nothing',
    '@rest(path: "/quotes/:id")',
    '@rest(path: "/quotes/:id", status: 201)',
    'Query.quote has @rest(status: 201) with GET, but only a POST creates: use 200',
  ],
  [
    'a created object that cannot be read',
    '@rest(path: "/requests/:id")',
    '@rest(path: "/threads/:id")',
    'Mutation.open_request has @rest(status: 201), but no GET of /requests/:id returns the Request at its Location: add one, or use 200',
  ],
  [
    'a created object that is read as another type',
    /(  request\(id: ID!\)): Request /,
    '$1: Quote ',
    'Mutation.open_request has @rest(status: 201), but no GET of /requests/:id returns the Request',
  ],
  [
    'a bulk call that creates',
    'path: "/products/bulk"',
    'path: "/products/bulk", status: 201',
    'Mutation.upsert_products has @rest(status: 201), but ProductUpsertReport has no id on REST for its Location: add id: ID!, or use 200',
  ],
  [
    'a created object whose id REST omits',
    /(type Request @[^]*?id: ID!)/,
    '$1 @graphql_only',
    'Mutation.open_request has @rest(status: 201), but Request has no id on REST for its Location',
  ],
  [
    'an argument that lists on REST use themselves',
    '  quotes(q: ',
    '  quotes(include: String, q: ',
    'Query.quotes takes include, which lists on REST use themselves: rename it',
  ],
])('%s is reported', (_title, from, to, sentence) => {
  expect(gapsOf(broken(from, to))).toContain(sentence);
});

test.each<[string, string, string]>([
  [
    'one route with two sets of parameters',
    write('drop_quote(number: ID!): Quote @rest(method: DELETE, path: "/quotes/:number")'),
    'Mutation.drop_quote has @rest(path: "/quotes/:number"), but Query.quote has "/quotes/:id": use the same names, since a path has one set of parameters',
  ],
  [
    'one route with other parameters and the same method',
    read('numbered_quote(number: ID!): Quote @rest(path: "/quotes/:number")'),
    'Query.numbered_quote has the same route as Query.quote: change its path or method',
  ],
  [
    'a parameter that stands twice in a path',
    read('line(id: ID!): QuoteLine @rest(path: "/quotes/:id/lines/:id")'),
    'Query.line has :id in its path more than once: give each its own argument',
  ],
  [
    'a path where the reference is',
    read('manual: QuoteLine @rest(path: "/docs/manual")'),
    'Query.manual has @rest(path: "/docs/manual"), where the reference is served: use another path',
  ],
  [
    'a name that a read has in the OpenAPI document',
    write('list_quotes: Quote @rest(method: POST, path: "/lists")'),
    'Mutation.list_quotes is list_quotes in the OpenAPI document, as Query.quotes is: rename one of them',
  ],
  [
    'a list in a path',
    read('several(ids: [ID!]!): QuoteLine @rest(path: "/several/:ids")'),
    'Query.several takes ids from its path, which cannot contain [ID!]!: use a scalar or an enum',
  ],
  [
    'an object in a path',
    read('near(address: AddressInput!): QuoteLine @rest(path: "/near/:address")'),
    'Query.near takes address from its path, which cannot contain AddressInput!: use a scalar or an enum',
  ],
  [
    'an object in a query',
    read('near(address: AddressInput): QuoteLine @rest(path: "/near")'),
    'Query.near takes address, but the query of a GET cannot contain AddressInput: use scalars, enums or lists of them',
  ],
  [
    'objects in the query of a DELETE',
    write('drop_all(at: [AddressInput!]!): Quote @rest(method: DELETE, path: "/near")'),
    'Mutation.drop_all takes at, but the query of a DELETE cannot contain [AddressInput!]!: use scalars, enums or lists of them',
  ],
  [
    'a list of lists in a query',
    read('pairs(of: [[Int!]!]!): QuoteLine @rest(path: "/pairs")'),
    'Query.pairs takes of, but the query of a GET cannot contain [[Int!]!]!',
  ],
  [
    'a default of what a PATCH leaves as it is',
    write('change_quote(id: ID!, days: Int = 5): Quote @rest(method: PATCH, path: "/quotes/:id")'),
    'Mutation.change_quote takes days with the default 5, but a PATCH keeps what is left out: remove the default',
  ],
  [
    'the version of a read',
    read('newer_quote(id: ID!, if_match: String): Quote @rest(path: "/newer/:id")'),
    'Query.newer_quote takes if_match, which is for writes: remove it',
  ],
  [
    'a version that is a list',
    write('change_quote(id: ID!, if_match: [String!]): Quote @rest(method: PATCH, path: "/quotes/:id")'),
    'Mutation.change_quote takes if_match as [String!], but a header is a text: write String',
  ],
  [
    'a version that GraphQL does not show',
    write('change_quote(id: ID!, if_match: String): Quote @rest(method: PATCH, path: "/quotes/:id")'),
    'Mutation.change_quote takes if_match, but Quote has no etag for GraphQL: add etag: String! @graphql_only',
  ],
  [
    'a version in a path',
    write('change_quote(if_match: String!): Quote @rest(method: PATCH, path: "/quotes/:if_match")'),
    'Mutation.change_quote takes if_match from its path, but REST takes it from the header If-Match: rename it',
  ],
])('%s is reported', (_title, sdl, sentence) => {
  expect(gapsOf(parse(`${SDL}\n${sdl}`))).toContain(sentence);
});

test.each<[string, string]>([
  ['a number in a path', read('of_year(year: Int!): QuoteLine @rest(path: "/years/:year")')],
  ['an enum in a path', read('of_status(status: QuoteStatus!): QuoteLine @rest(path: "/statuses/:status")')],
  ['words beside a parameter', read('newest_quote: QuoteLine @rest(path: "/quotes/newest")')],
  ['an object in a body', write('note(by: RequestContactInput!): QuoteLine @rest(method: POST, path: "/notes")')],
  ['an accepted write', write('recount: QuoteLine @rest(method: POST, path: "/recounts", status: 202)')],
])('%s is not a gap', (_title, sdl) => {
  const [, root = '', name = ''] = /extend type (\w+) \{ (\w+)/.exec(sdl) ?? [];
  expect(gapsOf(parse(`${SDL}\n${sdl}`), undefined, { [root]: { [name]: () => null } })).toBe('none');
});
