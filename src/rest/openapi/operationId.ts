import { getNamedType, type GraphQLField } from 'graphql';
import type { RestOperation } from '../routes/routes';

/** An operation with the field it calls. */
export interface Linked {
  readonly operation: RestOperation;
  readonly field: GraphQLField<unknown, unknown>;
}

/** Whether an operation answers one page of a list. */
export function answersPage({ type }: Linked['field']): boolean {
  return getNamedType(type).name.endsWith('Page');
}

/**
 * What an operation is called in the document, and so in generated clients: a verb and what it works on. A read is named
 * for what it reads (`products`, `request`), which says too little in a client and may be the name of a method that the
 * client has itself; a write has its verb already.
 */
export function operationId({ operation: { name, rest }, field }: Linked): string {
  if (rest.method !== 'GET') return name;
  return `${answersPage(field) ? 'list' : 'get'}_${name}`;
}
