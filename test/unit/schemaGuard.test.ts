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
