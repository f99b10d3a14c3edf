import type { ConstDirectiveNode, DefinitionNode, NameNode, TypeNode } from 'graphql';
// not from graphql, the whole of which commands that only read names would load
import { Kind } from 'graphql/language/kinds';

/** The root types. All files extend them, so what merges extensions into their types leaves theirs as they are. */
export const ROOTS: readonly string[] = ['Query', 'Mutation', 'Subscription'];

/** The name of a definition or extension; empty if it has none, as an extension of the schema itself. */
export function nameOf(node: DefinitionNode): string {
  const { name } = node as { readonly name?: NameNode };
  return name?.value ?? '';
}

/** The name of a type, without list and non-null. */
export function namedType(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type);
}

/** A node that may have directives. */
type Directed = { readonly directives?: readonly ConstDirectiveNode[] | undefined } | undefined;

/** A directive of a node as it is written; schema/sdl.ts reads its arguments with their defaults, which this room cannot. */
export function directiveIn(node: Directed, name: string): ConstDirectiveNode | undefined {
  return node?.directives?.find((directive) => directive.name.value === name);
}

/** The argument of a directive that is a string, a number or a value of an enum, as text; undefined if there is none. */
export function argumentText(directive: ConstDirectiveNode | undefined, name: string): string | undefined {
  const value = directive?.arguments?.find((argument) => argument.name.value === name)?.value;
  return value && 'value' in value ? String(value.value) : undefined;
}
