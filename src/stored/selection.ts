import { type FragmentDefinitionNode, type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql';

type Fragments = Readonly<Record<string, FragmentDefinitionNode>>;

/** Whether a query selects the field at `path` below the one being resolved, so that it is only read if needed. */
export function selects({ fieldNodes, fragments }: GraphQLResolveInfo, ...path: readonly string[]): boolean {
  const visited = new Set<string>();
  return fieldNodes.some((node) => node.selectionSet && selectsIn(node.selectionSet, path, fragments, visited));
}

/** Visits each fragment only once per remaining path, since the result is the same for every spread. */
function selectsIn(
  set: SelectionSetNode,
  path: readonly string[],
  fragments: Fragments,
  visited: Set<string>,
): boolean {
  const [name, ...rest] = path;
  return set.selections.some((selection) => {
    if (selection.kind === Kind.FIELD) {
      if (selection.name.value !== name) return false;
      return (
        rest.length === 0 ||
        (selection.selectionSet !== undefined && selectsIn(selection.selectionSet, rest, fragments, visited))
      );
    }
    if (selection.kind === Kind.INLINE_FRAGMENT) return selectsIn(selection.selectionSet, path, fragments, visited);
    const fragment = selection.name.value;
    const visit = `${fragment} ${String(path.length)}`;
    const inner = fragments[fragment]?.selectionSet;
    if (inner === undefined || visited.has(visit)) return false;
    visited.add(visit);
    return selectsIn(inner, path, fragments, visited);
  });
}
