import {
  type GraphQLField,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  OperationTypeNode,
} from 'graphql';
import type { RequestContext } from '../context';
import { AppError } from '../errors';

/*
 * How much one answer may hold: the rows of lists are told from the query before it runs (queryCost.ts), but what stands
 * inside them, such as a quote's lines, has no limit of its own, and only the data tells how much of it there is.
 */

/** Objects in all lists of one answer: 2,000 rows (20 pages of 100) with 49 lines each. 100,000 take some 200 MB until they are sent. */
export const MOST_OBJECTS = 100_000;

const given = new WeakMap<object, number>();

/** Makes each list of objects in a schema count what it gives towards its query, and give no more past the limit. */
export function countListedObjects(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      // a field with a resolver hands out a page, whose rows are counted
      if (!field.resolve && givesObjects(field)) field.resolve = giveCounted;
    }
  }
}

/** Why what a query answered is not whole; undefined within the limit. */
export function tooLarge(context: object): AppError | undefined {
  if ((given.get(context) ?? 0) <= MOST_OBJECTS) return undefined;
  const most = MOST_OBJECTS.toLocaleString('en');
  return new AppError(
    'invalid_request',
    `The answer would hold more than ${most} objects, with the lines and other lists inside its rows counted. Ask for fewer rows, or leave such lists out.`,
  );
}

function giveCounted(
  source: Readonly<Record<string, unknown>>,
  _args: unknown,
  context: RequestContext,
  { fieldName, operation }: GraphQLResolveInfo,
): unknown {
  const list = source[fieldName];
  // what a write says is bounded by its body, and must be said
  if (!Array.isArray(list) || operation.operation !== OperationTypeNode.QUERY) return list;
  given.set(context, (given.get(context) ?? 0) + list.length);
  const refusal = tooLarge(context);
  if (refusal) throw refusal;
  return list;
}

function givesObjects({ type }: GraphQLField<unknown, unknown>): boolean {
  return isListType(getNullableType(type)) && isObjectType(getNamedType(type));
}
