import {
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
import { objectFields } from './jsonSchema';

/*
 * Limits the size of a response. The rows of lists are limited before a query runs (queryCost.ts), but lists inside rows,
 * such as a quote's lines, have no limit of their own, so they can only be counted as they are returned.
 */

/** Maximum objects in all lists of a response: 2,000 rows (20 pages of 100) with 49 lines each. 100,000 take about 200 MB. */
export const MOST_OBJECTS = 100_000;

const given = new WeakMap<object, number>();

/** Makes every list of objects in a schema count its objects per query, and fail over the limit. */
export function countListedObjects(schema: GraphQLSchema): void {
  for (const { field } of objectFields(schema)) {
    const isListOfObjects = isListType(getNullableType(field.type)) && isObjectType(getNamedType(field.type));
    // fields with a resolver return a page, whose rows are counted
    if (isListOfObjects) field.resolve ??= giveCounted;
  }
}

/** The error for a response over the limit; undefined within the limit. */
export function tooLarge(context: object): AppError | undefined {
  if ((given.get(context) ?? 0) <= MOST_OBJECTS) return undefined;
  const most = MOST_OBJECTS.toLocaleString('en');
  return new AppError(
    'invalid_request',
    `The response would contain more than ${most} objects, counting lines and other lists inside its rows. Request fewer rows, or omit those lists.`,
  );
}

/** Whether a resolver gives the member of its own name. */
export function givesMember(resolve: unknown): boolean {
  return resolve === undefined || resolve === giveCounted;
}

function giveCounted(
  source: unknown,
  _args: unknown,
  context: RequestContext,
  { fieldName, operation }: GraphQLResolveInfo,
): unknown {
  const list = (source as Readonly<Record<string, unknown>>)[fieldName];
  // the response to a write is bounded by its body, and must not fail after the write
  if (!Array.isArray(list) || operation.operation !== OperationTypeNode.QUERY) return list;
  given.set(context, (given.get(context) ?? 0) + list.length);
  const refusal = tooLarge(context);
  if (refusal) throw refusal;
  return list;
}
