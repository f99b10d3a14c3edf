import { getNamedType, type GraphQLField } from 'graphql';
import type { RestOperation } from '../routes/routes';

/** An operation and its root field. */
export interface Linked {
  readonly operation: RestOperation;
  readonly field: GraphQLField<unknown, unknown>;
}

/** Whether an operation returns a page of a list. */
export function answersPage({ type }: Linked['field']): boolean {
  return getNamedType(type).name.endsWith('Page');
}

/**
 * The operationId, and so the method name in generated clients: a verb and an object. Reads get a verb, since their name
 * alone (`products`, `request`) is unclear in a client and may conflict with a method that all clients have; writes already
 * have one.
 */
export function operationId({ operation: { name, rest }, field }: Linked): string {
  if (rest.method !== 'GET') return name;
  return `${answersPage(field) ? 'list' : 'get'}_${name}`;
}
