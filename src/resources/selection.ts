import { type FragmentDefinitionNode, type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql';

type Fragments = Readonly<Record<string, FragmentDefinitionNode>>;

/** Whether a query selects the field at `path` below the one being resolved, so that it need not be read otherwise. */
export function selects(info: GraphQLResolveInfo, ...path: readonly string[]): boolean {
  return info.fieldNodes.some((node) => node.selectionSet && selectsIn(node.selectionSet, path, info.fragments));
}

function selectsIn(set: SelectionSetNode, path: readonly string[], fragments: Fragments): boolean {
  const [name, ...rest] = path;
  return set.selections.some((selection) => {
    if (selection.kind === Kind.FIELD) {
      if (selection.name.value !== name) return false;
      return (
        rest.length === 0 ||
        (selection.selectionSet !== undefined && selectsIn(selection.selectionSet, rest, fragments))
      );
    }
    const inner =
      selection.kind === Kind.INLINE_FRAGMENT ? selection.selectionSet : fragments[selection.name.value]?.selectionSet;
    return inner !== undefined && selectsIn(inner, path, fragments);
  });
}
