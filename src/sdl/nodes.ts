import type { DefinitionNode, NameNode } from 'graphql';

/** The root types. Their extensions stay extensions, since the built-in files consist of such. */
export const ROOTS: readonly string[] = ['Query', 'Mutation', 'Subscription'];

/** The name of a definition or extension; empty if it has none, as an extension of the schema itself. */
export function nameOf(node: DefinitionNode): string {
  const { name } = node as { readonly name?: NameNode };
  return name?.value ?? '';
}
