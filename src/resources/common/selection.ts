import type { GraphQLResolveInfo } from 'graphql';
import { fieldsIn } from '../../schema/selections';

/** Whether a query selects the field at `path` below the one being resolved, so that it is only read if needed. */
export function selects({ fieldNodes, fragments }: GraphQLResolveInfo, ...path: readonly string[]): boolean {
  let found = fieldNodes;
  for (const name of path) {
    const sets = found.flatMap(({ selectionSet }) => selectionSet ?? []);
    found = fieldsIn(sets, (fragment) => fragments[fragment]).filter((field) => field.name.value === name);
  }
  return found.length > 0;
}
