import type { DefinitionNode, NameNode } from 'graphql';

/** The root types, which our own files extend too, so that their extensions stay. */
export const ROOTS: readonly string[] = ['Query', 'Mutation', 'Subscription'];

export function nameOf(node: DefinitionNode): string {
  const { name } = node as { readonly name?: NameNode };
  return name?.value ?? '';
}
