import {
  type DocumentNode,
  execute,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';

/* Runs operations. None is compiled to code (docs/decisions/speed.md). */

export interface Execution {
  readonly document: DocumentNode;
  /** The operation of the document to run. */
  readonly operation: OperationDefinitionNode;
  readonly contextValue: unknown;
  readonly variableValues: Readonly<Record<string, unknown>> | null | undefined;
}

export type Execute = (execution: Execution) => Promise<ExecutionResult>;

/** Maximum errors in an answer; `more_errors` in its extensions says how many more there were. */
const MAX_ERRORS = 100;

/** Runs operations of a schema; their errors are in the result. */
export function createExecutor(schema: GraphQLSchema): Execute {
  return async ({ document, operation, contextValue, variableValues }) => {
    const operationName = operation.name?.value;
    return withFewErrors(await execute({ schema, document, contextValue, variableValues, operationName }));
  };
}

/** Truncates the errors of a result: each row can have an error for each of its fields, and each error takes hundreds of bytes. */
function withFewErrors(result: ExecutionResult): ExecutionResult {
  const { errors = [], extensions } = result;
  if (errors.length <= MAX_ERRORS) return result;
  const more = errors.length - MAX_ERRORS;
  return { ...result, errors: errors.slice(0, MAX_ERRORS), extensions: { ...extensions, more_errors: more } };
}
