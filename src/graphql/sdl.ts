import { GraphQLObjectType, GraphQLSchema, type GraphQLSchemaConfig, printSchema } from 'graphql';
import type { Operation } from '../schema/declaredOperations';

/** The schema as text, for generators of clients: without the operations of users, and the types and directives that no key can use. */
export function keySdl(schema: GraphQLSchema, operations: readonly Operation[]): string {
  const ofUsers = new Set(operations.filter(({ role }) => role !== undefined).map(({ name }) => name));
  const withoutUsers = (root: GraphQLSchemaConfig['query']): GraphQLObjectType | undefined => {
    if (!root) return undefined;
    const { fields, ...config } = root.toConfig();
    const kept = Object.entries(fields).filter(([name]) => !ofUsers.has(name));
    return new GraphQLObjectType({ ...config, fields: Object.fromEntries(kept) });
  };
  const { query, mutation, subscription, description } = schema.toConfig();
  const [reads, writes] = [query, mutation].map(withoutUsers);
  return `${printSchema(new GraphQLSchema({ query: reads, mutation: writes, subscription, description }))}\n`;
}
