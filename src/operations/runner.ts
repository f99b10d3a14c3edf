import {
  type GraphQLFieldConfigArgumentMap,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
} from 'graphql';
import { type Operation, perElement } from '../schema/declaredOperations';
import { type ArgumentChecks, argumentChecks } from './argumentChecks';
import type { Schemas } from './build';
import { createExecutor, type Execute } from './execution';
import { type OnFastRead, type Read, readOf } from './run';
import { type Field, rootField, type Selected } from './selection';

/* Runs single operations, for REST and MCP. */

export interface Runner {
  readonly schemas: Schemas;
  /** The schema with all routes, and what executes its operations. */
  readonly routes: Executable;
  /** How to run an operation; undefined if the schema lacks it. */
  readonly of: (operation: Operation) => Runnable | undefined;
}

export interface Executable {
  readonly schema: GraphQLSchema;
  readonly execute: Execute;
}

export interface Runnable extends Executable {
  readonly field: Field;
  readonly checks: ArgumentChecks;
  /** The fast read of a selection; undefined if only the resolver can answer it. */
  readonly readOf: (selected: readonly Selected[]) => Read | undefined;
}

export function createRunner(schemas: Schemas, onFastRead?: OnFastRead): Runner {
  const { rest, graphql, operations } = schemas;
  // each route or tool runs a fixed operation, which is therefore compiled at first use
  const executable = (schema: GraphQLSchema): Executable => ({
    schema,
    execute: createExecutor(schema, { compiledFrom: 1 }),
  });
  const checksOf = (schema: GraphQLSchema, hasRoute: boolean) => {
    const named = operations.filter((operation) => (operation.rest !== undefined) === hasRoute);
    const checked = named.flatMap((operation) => {
      const field = rootField(schema, operation);
      return field ? [{ type: operation.kind, field: field as never }] : [];
    });
    return argumentChecks(schema, checked, { rawElements: hasRoute });
  };
  const parts = {
    routes: { ...executable(withRawElements(rest)), fields: rest, checksOf: checksOf(rest, true) },
    others: { ...executable(graphql), fields: graphql, checksOf: checksOf(graphql, false) },
  };
  return {
    schemas,
    routes: parts.routes,
    of(operation) {
      const { schema, execute, fields, checksOf: checks } = operation.rest ? parts.routes : parts.others;
      const field = rootField(fields, operation);
      if (!field) return undefined;
      return {
        ...{ schema, execute, field, checks: checks({ type: operation.kind, field: field as never }) },
        readOf: (selected) => readOf(field, selected, onFastRead),
      };
    },
  };
}

/* Bulk calls: an element of the wrong type fails on its own, so neither Sofa nor graphql may parse elements before they are validated. */

/** Any value, passed through unchanged. */
const Element = new GraphQLScalarType({ name: 'Element', serialize: (value) => value, parseValue: (value) => value });
const ELEMENTS = new GraphQLNonNull(new GraphQLList(Element));

/** The schema with elements of bulk calls passed to resolvers as sent. Shares all other types. */
function withRawElements(schema: GraphQLSchema): GraphQLSchema {
  const mutations = schema.getMutationType();
  if (!mutations) return schema;
  const config = mutations.toConfig();
  const fields = Object.entries(config.fields).map(([name, field]) => {
    const raw = perElement(mutations.getFields()[name]?.args ?? []);
    return [name, { ...field, args: withElements(field.args ?? {}, raw) }] as const;
  });
  const mutation = new GraphQLObjectType({ ...config, fields: Object.fromEntries(fields) });
  const { types, ...others } = schema.toConfig();
  return new GraphQLSchema({ ...others, mutation, types: types.filter((type) => type !== mutations) });
}

function withElements(args: GraphQLFieldConfigArgumentMap, raw: readonly string[]): GraphQLFieldConfigArgumentMap {
  const changed = raw.map((name) => [name, { ...args[name], type: ELEMENTS }] as const);
  return { ...args, ...Object.fromEntries(changed) };
}
