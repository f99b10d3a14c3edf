import {
  type DocumentNode,
  execute as interpret,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Query } from './compile';

/*
 * Runs operations. Repeated operations are compiled by graphql-jit, which gives the same results as graphql-js in a fraction
 * of the time; operations for which the results differ are left to graphql-js (docs/decisions/speed.md).
 */

export interface Execution {
  readonly document: DocumentNode;
  /** The operation of the document to run. */
  readonly operation: OperationDefinitionNode;
  readonly contextValue: unknown;
  readonly variableValues: Readonly<Record<string, unknown>> | null | undefined;
}

export type Execute = (execution: Execution) => Promise<ExecutionResult>;

/** Compiling costs about as much as 10 runs, but most operations that run three times run a thousand times. */
export const COMPILED_FROM = 3;
/** Maximum errors in an answer; `more_errors` in its extensions says how many more there were. */
const MAX_ERRORS = 100;
/** The count of uses that marks an operation as never to be compiled. */
const NEVER = Infinity;
/** The most operations that are kept compiled. */
const MAX_COMPILED = 200;

interface ExecutorOptions {
  /** From which run on an operation is compiled; {@link COMPILED_FROM} by default. */
  readonly compiledFrom?: number;
  /** Whether an operation is small enough to compile; defaults to all. */
  readonly isWorthCompiling?: (document: DocumentNode, operation: OperationDefinitionNode) => boolean;
}

/** Runs operations of a schema; their errors are in the result. Operations are identified by AST node, so callers must cache parsed documents. */
export function createExecutor(
  schema: GraphQLSchema,
  { compiledFrom = COMPILED_FROM, isWorthCompiling = () => true }: ExecutorOptions = {},
): Execute {
  /** How often each operation ran that is not compiled; weak, since an operation keeps its whole document in memory. */
  const uses = new WeakMap<OperationDefinitionNode, number>();
  const compiled = new LRUCache<OperationDefinitionNode, Query>({
    max: MAX_COMPILED,
    dispose: (_query, operation) => void uses.delete(operation),
  });

  async function queryOf({ document, operation }: Execution): Promise<Query | null> {
    const before = uses.get(operation) ?? 0;
    if (before === NEVER) return null;
    uses.set(operation, before + 1);
    if (before + 1 < compiledFrom) return null;
    const { compile } = await import('./compile.js');
    // another run may have compiled the operation meanwhile
    const compiledQuery = compiled.get(operation);
    if (compiledQuery) return compiledQuery;
    const query = isWorthCompiling(document, operation) ? compile(schema, document, operation) : null;
    if (query) compiled.set(operation, query);
    else uses.set(operation, NEVER);
    return query;
  }

  return async (execution) => {
    const { document, operation, contextValue, variableValues } = execution;
    const query = compiled.get(operation) ?? (await queryOf(execution));
    const result = await query?.(undefined, contextValue, variableValues ?? {});
    // without data nothing was run, so let graphql-js report invalid variables in its own words
    if (result?.data !== undefined) return asGraphql(withFewErrors(result));
    const operationName = operation.name?.value;
    return withFewErrors(await interpret({ schema, document, contextValue, variableValues, operationName }));
  };
}

/** Truncates the errors of a result: each row can have an error for each of its fields, and each error takes hundreds of bytes. */
function withFewErrors(result: ExecutionResult): ExecutionResult {
  const { errors = [], extensions } = result;
  if (errors.length <= MAX_ERRORS) return result;
  const more = errors.length - MAX_ERRORS;
  return { ...result, errors: errors.slice(0, MAX_ERRORS), extensions: { ...extensions, more_errors: more } };
}

/** Converts the errors of graphql-jit, which are not instances of GraphQLError and lack extensions. */
function asGraphql(result: ExecutionResult): ExecutionResult {
  if (!result.errors) return result;
  const errors = result.errors.map(({ message, path, locations, originalError, extensions }) =>
    Object.assign(new GraphQLError(message, { path, originalError, extensions }), { locations }),
  );
  return { ...result, errors };
}
