import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GraphQLEnumType, GraphQLObjectType } from 'graphql';
import { type GraphQLSchema, isObjectType, parse } from 'graphql';
import { ALL_SCOPES, SCOPES } from '../../src/auth/scopes';
import { AppError } from '../../src/errors';
import { publishedSchemas } from '../../src/published';
import { buildSchemas } from '../../src/operations/build';
import type { Resolver } from '../../src/operations/run';

const BASE = readFileSync(join(__dirname, '..', '..', 'schema', 'base.graphql'), 'utf8');
const resolve: Resolver = () => ({ id: 'x' });

/** Builds a schema of a few types with the shared directives. */
function build(sdl: string, fields: readonly string[] = []) {
  const resolvers: Record<string, Record<string, Resolver>> = {};
  for (const name of fields) {
    const [type = '', field = ''] = name.split('.');
    resolvers[type] = { ...resolvers[type], [field]: resolve };
  }
  return buildSchemas(parse(`${BASE}\n${sdl}`), resolvers);
}

const MUTATION = 'extend type Mutation { make: Boolean @access }';
const THING = 'type Thing { id: ID! }';

describe('a schema is rejected', () => {
  test.each<[string, string, string[], string]>([
    ['a query without @access', 'extend type Query { open: Boolean }', ['Query.open'], 'Query.open has no @access'],
    [
      'a mutation without @access',
      'extend type Mutation { open: Boolean }',
      ['Mutation.open'],
      'Mutation.open has no @access',
    ],
    [
      'a route without @access',
      'extend type Query { open: Boolean @rest(path: "/open") }',
      ['Query.open'],
      'Query.open has no @access',
    ],
    [
      'a method that REST does not have',
      'extend enum HttpMethod { PURGE } extend type Mutation { change: Boolean @access @rest(method: PURGE, path: "/x") }',
      ['Mutation.change'],
      'Mutation.change has @rest(method: PURGE): REST has GET, POST, PUT, PATCH, DELETE',
    ],
    ['a query without a resolver', 'extend type Query { lost: Boolean @access }', [], 'Query.lost has no resolver'],
    [
      'a relation without a resolver',
      `extend type Query { thing: Thing @access } type Thing { other: Thing @access(scope: QUOTES_READ) }`,
      ['Query.thing'],
      'Thing.other has no resolver',
    ],
    [
      'an unknown scope',
      'extend enum Scope { PRODUCTS_BURN } extend type Query { burn: Boolean @access(scope: PRODUCTS_BURN) }',
      ['Query.burn'],
      'Query.burn has the unknown scope PRODUCTS_BURN',
    ],
    [
      'a scope named like an inherited member',
      'extend enum Scope { toString } extend type Query { burn: Boolean @access(scope: toString) }',
      ['Query.burn'],
      'Query.burn has the unknown scope toString',
    ],
    [
      'an unknown role',
      'extend enum Role { OWNER } extend type Query { own: Boolean @access(role: OWNER) }',
      ['Query.own'],
      'Query.own has the unknown role OWNER',
    ],
    [
      'a field for keys and users',
      'extend type Query { both: Boolean @access(scope: QUOTES_READ, role: MEMBER) }',
      ['Query.both'],
      'Query.both has a scope and a role; a field is either for keys or for users',
    ],
    [
      'a route for users',
      'extend type Query { keys: Boolean @rest(path: "/keys") @access(role: ADMIN) }',
      ['Query.keys'],
      'Query.keys is for users but has @rest',
    ],
  ])('with %s', (_title, sdl, fields, gap) => {
    expect(() =>
      build(`${MUTATION} extend type Query { fine: Boolean @access } ${sdl}`, [
        ...fields,
        'Query.fine',
        'Mutation.make',
      ]),
    ).toThrow(`invalid schema: ${gap}`);
  });

  test('with a directive that lacks an argument, in the words of graphql-js', () => {
    expect(() => build('extend type Query { open: Boolean @access @rest }', ['Query.open'])).toThrow(
      'Directive "@rest" argument "path" of type "String!" is required, but it was not provided.',
    );
  });

  test('with several gaps, all of which are listed', () => {
    const sdl = 'extend type Query { a: Boolean b: Boolean @access } extend type Mutation { c: Boolean }';
    expect(() => build(sdl)).toThrow(
      /Query\.a has no @access; Query\.a has no resolver; Query\.b has no resolver; Mutation\.c has no @access/,
    );
  });
});

describe('the guard of a field', () => {
  const SDL = `extend type Query {
      "Lists."
      things(limit: Int @constraint(min: 1, max: 5, default: 5)): Thing @rest(path: "/things") @access(scope: QUOTES_READ)
    }
    ${MUTATION} ${THING}`;

  test('checks the scope before anything else', () => {
    const { graphql } = build(SDL, ['Query.things', 'Mutation.make']);
    const { things } = (graphql.getType('Query') as GraphQLObjectType).getFields();
    const authorise = jest.fn(() => {
      throw new AppError('insufficient_scope', 'No.');
    });
    expect(() => things!.resolve!({}, { limit: 99 }, { authorise }, {} as never)).toThrow('No.');
    expect(authorise).toHaveBeenCalledWith({ scope: 'quotes:read', role: undefined });
  });

  test('then checks the arguments, then resolves', () => {
    const { graphql } = build(SDL, ['Query.things', 'Mutation.make']);
    const { things } = (graphql.getType('Query') as GraphQLObjectType).getFields();
    const context = { authorise: () => undefined };
    expect(() => things!.resolve!({}, { limit: 99 }, context, {} as never)).toThrow('limit: must be <= 5');
    expect(things!.resolve!({}, { limit: 5 }, context, {} as never)).toEqual({ id: 'x' });
  });
});

describe('the REST schema', () => {
  const SDL = `extend type Query {
      "Lists."
      things: ThingPage @rest(path: "/things") @access
      "Reads."
      thing(id: ID!): Thing @rest(path: "/things/:id") @access
      "Sums."
      totals: Boolean @access
    }
    ${MUTATION}
    type ThingPage { data: [Thing!]! }
    type Thing { id: ID! lines: [Boolean!]! @graphql_only(on: LISTS) other: Thing @graphql_only @access }`;
  const FIELDS = ['Query.things', 'Query.thing', 'Query.totals', 'Mutation.make', 'Thing.other'];
  const { rest, graphql, operations } = build(SDL, FIELDS);
  const shown = (schema: GraphQLSchema, type: string): string[] =>
    Object.entries((schema.getType(type) as GraphQLObjectType).getFields()).map(
      ([name, field]) => `${name}: ${String(field.type)}`,
    );

  test('has no operations without a route and no @graphql_only fields', () => {
    expect(shown(rest, 'Query')).toEqual(['things: ThingPage', 'thing: Thing']);
    expect(shown(rest, 'Thing')).toEqual(['id: ID!', 'lines: [Boolean!]!']);
  });

  test('does not change the GraphQL schema', () => {
    expect(shown(graphql, 'Query')).toEqual(['things: ThingPage', 'thing: Thing', 'totals: Boolean']);
    expect(shown(graphql, 'Thing')).toEqual(['id: ID!', 'lines: [Boolean!]!', 'other: Thing']);
  });

  test('is described by the operations', () => {
    expect(operations.map(({ name, rest: route }) => [name, route?.path])).toEqual([
      ['things', '/things'],
      ['thing', '/things/:id'],
      ['totals', undefined],
      ['make', undefined],
    ]);
  });
});

describe('the published schema', () => {
  const { graphql, rest, operations } = publishedSchemas();

  test('is valid, and shares no object types between the APIs', () => {
    expect(operations.length).toBeGreaterThan(14);
    const types = Object.values(graphql.getTypeMap()).filter(isObjectType);
    expect(types.filter((type) => !type.name.startsWith('__') && rest.getType(type.name) === type)).toEqual([]);
  });

  test('has the scopes of the catalogue, each with a description', () => {
    const values = (graphql.getType('Scope') as GraphQLEnumType).getValues();
    expect(values.map(({ name }) => name).sort()).toEqual(Object.keys(SCOPES).sort());
    for (const { name, description } of values) expect(description).toContain(SCOPES[name as keyof typeof SCOPES]);
    expect(new Set(ALL_SCOPES).size).toBe(ALL_SCOPES.length);
  });
});
