import { parse } from 'graphql';
import { gapsOf, SDL } from '../support/brokenSchema';

/* Adds what REST and tools could not answer with, and definitions that the server does not go by. */

/** The gaps of the published schema with more of it. */
const added = (sdl: string): string => gapsOf(parse(`${SDL}\n${sdl}`));
const ON_REST = '@rest(path: "/it") @access(scope: QUOTES_READ)';
const TOOL = '@mcp @access(scope: QUOTES_READ)';

describe('an answer', () => {
  test.each<[string, string, string]>([
    [
      'a list on REST',
      `extend type Query { it: [Quote!] ${ON_REST} }`,
      'Query.it returns [Quote!], but REST and tools answer with an object: return a type that contains it',
    ],
    [
      'a number on REST',
      `extend type Query { it: Int ${ON_REST} }`,
      'Query.it returns Int, but REST and tools answer with an object: return a type that contains it',
    ],
    [
      'one of several types on REST',
      `union Any = Quote | Order extend type Query { it: Any ${ON_REST} }`,
      'Query.it returns Any, but REST and tools answer with an object',
    ],
    [
      'a list of a tool',
      `extend type Query { it: [QuoteLine!] ${TOOL} }`,
      'Query.it returns [QuoteLine!], but REST and tools answer with an object',
    ],
    [
      'an interface inside',
      `interface Named { name: String } extend type MeKey { owner: Named }`,
      'MeKey.owner is Named, of which REST cannot know the fields: add @graphql_only',
    ],
    [
      'a type without end on REST',
      `type Tree { leaf: ID branches: [Tree!]! } extend type MeKey { tree: Tree }`,
      'Tree.branches leads back to Tree, which REST would return without end: add @graphql_only',
    ],
    [
      'types without end on REST',
      `type Hen { egg: Egg } type Egg { hen: Hen } extend type MeKey { hen: Hen }`,
      'Egg.hen leads back to Hen, which REST would return without end: add @graphql_only',
    ],
    [
      'a type without end of a tool',
      `type Tree { branches: [Tree!]! @graphql_only } extend type Query { it: Tree ${TOOL} }`,
      'Tree.branches leads back to Tree, which the tool Query.it would return without end: let Query.it return another type',
    ],
    [
      'a scope inside REST',
      'extend type MeKey { secrets: Int @access(scope: QUOTES_READ) }',
      'MeKey.secrets has its own @access, but REST returns every field to all who may call it: add @graphql_only',
    ],
    [
      'a scope inside a tool',
      `extend type Query { it: Quote ${TOOL} }`,
      'Quote.customer has its own @access, but the tool Query.it returns every field to all who may call it: let Query.it return another type',
    ],
    [
      'what needs an argument',
      'extend type MeKey { uses(day: Date!): Int }',
      'MeKey.uses needs day, which REST cannot send: make it nullable, or add @graphql_only',
    ],
    [
      'an object of which REST omits everything',
      'type Hidden { it: Int @graphql_only } extend type MeKey { hidden: Hidden }',
      'Hidden has only fields with @graphql_only, but Query.me returns it: remove one of these',
    ],
    [
      'a root field that cannot be null',
      'extend type Query { it: Quote! @access(scope: QUOTES_READ) }',
      'Query.it is non-null, so that its error would take the other fields of a GraphQL answer: remove !',
    ],
    [
      'a guarded field that cannot be null',
      'extend type MeKey { secrets: Int! @graphql_only @access(scope: QUOTES_READ) }',
      'MeKey.secrets has @access and is non-null, so that whoever may not read it loses what is around it: remove !',
    ],
    [
      'what is stored without end',
      'type Tree { branches: [Tree!]! } extend type Quote { tree: Tree @graphql_only }',
      'invalid schema: Tree.branches leads back to Tree, but is stored in each Quote, without end: remove it, or let it refer to a type with @stored',
    ],
  ])('with %s is reported', (_title, sdl, sentence) => {
    expect(added(sdl)).toContain(sentence);
  });

  test.each<[string, string]>([
    [
      'a type without end in GraphQL only',
      `type Tree { branches: [Tree!]! } extend type MeKey { tree: Tree @graphql_only }`,
    ],
    ['the same type twice', 'extend type MeKey { first: MeOrganisation second: MeOrganisation }'],
    ['an argument that may be left out', 'extend type MeKey { uses(day: Date): Int }'],
    ['input without end', 'input Nested { inner: [Nested!] }'],
  ])('with %s is not a gap', (_title, sdl) => {
    expect(added(sdl)).toBe('none');
  });
});

describe('a definition', () => {
  test.each<[string, string, string]>([
    [
      'of a scalar without implementation',
      'scalar Json',
      'the scalar Json has no implementation: add one to src/schema/scalars.ts, or remove it',
    ],
    [
      'of a write with the name of a read',
      'extend type Mutation { quote: Quote @access(scope: QUOTES_WRITE) }',
      'Mutation.quote has the same name as Query.quote: rename one of them',
    ],
    [
      'with the name of rows on REST',
      'type QuoteItem { id: ID! }',
      'QuoteItem has the name that rows of lists of Quote have on REST: rename it',
    ],
    [
      'with the name of rows on REST, of input',
      'input OrderItem { id: ID! }',
      'OrderItem has the name that rows of lists of Order have on REST: rename it',
    ],
    [
      'with the name of errors',
      'type Problem { id: ID! }',
      'Problem has the name of the type of errors on REST: rename it',
    ],
    [
      'of the root types',
      'schema { query: Query }',
      'the root type of mutation is none, not Mutation: remove the schema definition',
    ],
    [
      'of another root type',
      'type Root { me: Me } schema { query: Root mutation: Mutation subscription: Subscription }',
      'the root type of query is Root, not Query: remove the schema definition',
    ],
  ])('%s is reported', (_title, sdl, sentence) => {
    expect(added(sdl)).toContain(sentence);
  });

  test('of a page whose further member has a resolver is not a gap', () => {
    const sdl = parse(`${SDL}\nextend type ProductPage { total: Int }`);
    expect(gapsOf(sdl, undefined, { ProductPage: { total: () => 7 } })).toBe('none');
  });
});
