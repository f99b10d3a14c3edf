import {
  type DocumentNode,
  getNullableType,
  getOperationAST,
  type GraphQLArgument,
  type GraphQLFieldConfigArgumentMap,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  type OperationDefinitionNode,
  parse,
} from 'graphql';
import { type Operation, perElement } from '../schema/declaredOperations';
import { answerText } from './answers';
import { type ArgumentChecks, argumentChecks, coerceArguments } from './argumentChecks';
import type { Schemas } from './build';
import type { CallContext } from './context';
import { createExecutor, type Execute } from './execution';
import { type OnFastRead, readOf } from './run';
import { type Field, rootField, type Selected, type Written } from './selection';
import { toldMembers, withMembers } from './toldMembers';

/* Runs single operations, for REST and MCP, which have checked access and arguments before. */

export interface Runner {
  readonly schemas: Schemas;
  /** The schema with all routes, from which Sofa generates them. */
  readonly routes: GraphQLSchema;
  /** How to run an operation; undefined if the schema lacks it. */
  readonly of: (operation: Operation) => Runnable | undefined;
}

export interface Runnable {
  readonly field: Field;
  readonly checks: ArgumentChecks;
  /** How to run it with a selection; to be made once for each. */
  readonly runOf: (selected: readonly Selected[]) => Run;
}

/** An operation with a selection. Its document is made once. */
export interface Run {
  readonly selected: readonly Selected[];
  /** Answers from the database's bytes; resolves with undefined if the resolver has to answer. Missing if it always has to. */
  readonly read?: (args: Arguments, context: CallContext) => Promise<Written | undefined>;
  /** Answers by the resolver. @throws the operation's error */
  readonly resolve: (args: Arguments, context: CallContext) => Promise<Answer>;
}

export interface Answer {
  /** JSON, as bytes if it may be long. */
  readonly text: Buffer | string;
  /** The cursor of the next page; null, or left out by what is never a page, if there is none. */
  readonly next?: string | null;
  /** Whether members are left out that the key may not read. */
  readonly isPartial?: boolean;
}

type Arguments = Readonly<Record<string, unknown>>;

export function createRunner(schemas: Schemas, onFastRead?: OnFastRead): Runner {
  const { rest, graphql, operations } = schemas;
  const executable = (schema: GraphQLSchema) => ({ schema, execute: createExecutor(schema) });
  const checksOf = (schema: GraphQLSchema, hasRoute: boolean) => {
    const ownOperations = operations.filter((operation) => (operation.rest !== undefined) === hasRoute);
    const checked = ownOperations.flatMap((operation) => {
      const field = rootField(schema, operation);
      return field ? [{ type: operation.kind, field: field as never }] : [];
    });
    return argumentChecks(schema, checked, { rawElements: hasRoute });
  };
  // operations without a route, which only MCP's tools run here, run on GraphQL's schema, since REST's lacks them
  const parts = {
    routes: { ...executable(withRawElements(rest)), fields: rest, checksOf: checksOf(rest, true) },
    others: { ...executable(graphql), fields: graphql, checksOf: checksOf(graphql, false) },
  };
  return {
    schemas,
    routes: parts.routes.schema,
    of(operation) {
      const { schema, execute, fields, checksOf: checks } = operation.rest ? parts.routes : parts.others;
      const field = rootField(fields, operation);
      if (!field) return undefined;
      return {
        field,
        checks: checks({ type: operation.kind, field: field as never }),
        runOf(selected) {
          const read = readOf(field, selected, onFastRead);
          return {
            selected,
            ...(read && { read: (args, context) => read(coerceArguments(field.args, args), context) }),
            resolve: resolverOf(operation, execute, () => documentOf(schema, operation, selected)),
          };
        },
      };
    },
  };
}

interface Document {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

function resolverOf(operation: Operation, execute: Execute, makeDocument: () => Document): Run['resolve'] {
  const { kind, name } = operation;
  let document: Document | undefined;
  return async (args, context) => {
    document ??= makeDocument();
    const { data, errors } = await execute({ ...document, contextValue: context, variableValues: args });
    if (errors?.[0]) throw errors[0];
    const value = data?.[name] as { readonly next_cursor?: string | null } | null | undefined;
    if (kind === 'Query') return { text: await answerText(value, context), next: value?.next_cursor ?? null };
    // the answer to a write is one object or a report, and must not be refused after the write
    const members = toldMembers(operation, args, context);
    return {
      text: JSON.stringify(members ? withMembers(value ?? null, members) : value),
      isPartial: members !== undefined,
    };
  };
}

/** The operation as GraphQL, with each argument as a variable. */
function documentOf(schema: GraphQLSchema, operation: Operation, selected: readonly Selected[]): Document {
  const { kind, name } = operation;
  const args = rootField(schema, operation)?.args ?? [];
  // one with a default may be left out
  const typeOf = ({ type, defaultValue }: GraphQLArgument) =>
    defaultValue === undefined ? type : getNullableType(type);
  const variables = args.map((argument) => `$${argument.name}: ${String(typeOf(argument))}`).join(', ');
  const callArguments = args.map((argument) => `${argument.name}: $${argument.name}`).join(', ');
  const call = args.length === 0 ? name : `${name}(${callArguments})`;
  const text = `${kind === 'Query' ? 'query' : 'mutation'}${args.length === 0 ? '' : `(${variables})`} { ${call}${selectionText(selected)} }`;
  const document = parse(text, { noLocation: true });
  const node = getOperationAST(document);
  if (!node) throw new Error(`no document for ${name}`);
  return { document, operation: node };
}

function selectionText(selected: readonly Selected[]): string {
  if (selected.length === 0) return '';
  return ` { ${selected.map((selection) => selection.key + selectionText(selection.selected)).join(' ')} }`;
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
  const rawArguments = raw.map((name) => [name, { ...args[name], type: ELEMENTS }] as const);
  return { ...args, ...Object.fromEntries(rawArguments) };
}
