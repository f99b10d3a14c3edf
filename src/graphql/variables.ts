import {
  coerceInputValue,
  GraphQLError,
  type GraphQLSchema,
  isInputType,
  type OperationDefinitionNode,
  print,
  typeFromAST,
} from 'graphql';
import { invalidRequest, MAX_FAULTS, shorten } from '../errors';
import { withHttpStatus } from './errors';

/**
 * The errors of an operation's variables that are lists or objects, at most 100. Their size is checked first, since coercion takes a
 * microsecond or more per element, and runs two or three times before arguments are checked. graphql-js and graphql-jit would print
 * the whole value with each error: for 1 MiB, that takes 3.5 s and makes a response of 33 MB.
 */
export function variableErrors(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  values: Readonly<Record<string, unknown>>,
): readonly GraphQLError[] {
  if (areTooLarge(values)) {
    const detail = `have more than ${MAX.toLocaleString('en')} elements and members that are lists or objects`;
    return [withHttpStatus(invalidRequest([{ parameter: 'variables', code: 'size', detail }]))];
  }
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

/** Maximum of list elements, and members that are lists or objects, together: a bulk call of 1 MiB has fewer, unless its elements are nearly empty. */
const MAX = 20_000;

/** Whether variables are too large in total, without coercing them (docs/decisions/loop.md). */
export function areTooLarge(values: Readonly<Record<string, unknown>>): boolean {
  let size = 0;
  const look = (value: unknown): void => {
    if (size > MAX || typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      size += value.length;
      value.forEach(look);
      return;
    }
    for (const member of Object.values(value)) {
      if (typeof member === 'object' && member !== null) size += 1;
      look(member);
    }
  };
  Object.values(values).forEach(look);
  return size > MAX;
}
