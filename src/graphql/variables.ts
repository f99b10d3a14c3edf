import {
  coerceInputValue,
  GraphQLError,
  type GraphQLSchema,
  isInputType,
  type OperationDefinitionNode,
  print,
  typeFromAST,
} from 'graphql';
import { MAX_FAULTS, shorten } from '../errors';

/**
 * The errors of an operation's variables that are lists or objects, at most 100. graphql-js would print the whole value with
 * each error: for 1 MiB, that takes 3.5 s and makes a response of 33 MB.
 */
export function variableErrors(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  values: Readonly<Record<string, unknown>>,
): readonly GraphQLError[] {
  const errors: GraphQLError[] = [];
  for (const node of operation.variableDefinitions ?? []) {
    const name = node.variable.name.value;
    const value = values[name];
    // a scalar has one error, which prints it only once
    if (typeof value !== 'object' || value === null) continue;
    const type = typeFromAST(schema, node.type);
    // documents with other types are rejected before anything runs
    if (!isInputType(type)) throw new Error(`${print(node.type)} is not an input type`);
    try {
      const onError = (path: readonly (string | number)[], _invalid: unknown, { message }: GraphQLError): void => {
        const place = path.map((key) => (typeof key === 'number' ? `[${String(key)}]` : `.${shorten(key)}`)).join('');
        const words = `Variable "$${name}" got invalid value at "${name}${place}"; ${shorten(message, 300)}`;
        errors.push(new GraphQLError(words, { nodes: node }));
        if (errors.length === MAX_FAULTS) throw new Enough();
      };
      coerceInputValue(value, type, onError, true);
    } catch (error) {
      if (!(error instanceof Enough)) throw error;
      return errors;
    }
  }
  return errors;
}

/** Thrown to stop at the maximum number of errors. */
class Enough extends Error {}
