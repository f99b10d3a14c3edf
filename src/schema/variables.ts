import {
  coerceInputValue,
  GraphQLError,
  type GraphQLSchema,
  isInputType,
  type OperationDefinitionNode,
  print,
  typeFromAST,
} from 'graphql';
import { MOST_FAULTS, shorten } from '../errors';

/**
 * What is wrong with an operation's variables that are lists or objects, up to 100 faults. graphql-js and graphql-jit print the
 * whole value beside each of its faults: 1 MiB took them 3.5 s and was answered with 33 MB.
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
    // of a single value no more is printed than there is of it
    if (typeof value !== 'object' || value === null) continue;
    const type = typeFromAST(schema, node.type);
    // what is no input type is refused before anything runs
    if (!isInputType(type)) throw new Error(`${print(node.type)} is no input type`);
    try {
      const onError = (path: readonly (string | number)[], _invalid: unknown, { message }: GraphQLError): void => {
        const place = path.map((key) => (typeof key === 'number' ? `[${String(key)}]` : `.${shorten(key)}`)).join('');
        const words = `Variable "$${name}" got invalid value at "${name}${place}"; ${shorten(message, 300)}`;
        errors.push(new GraphQLError(words, { nodes: node }));
        if (errors.length === MOST_FAULTS) throw new Enough();
      };
      coerceInputValue(value, type, onError, true);
    } catch (error) {
      if (!(error instanceof Enough)) throw error;
      return errors;
    }
  }
  return errors;
}

/** There is more to tell than is told. */
class Enough extends Error {}
