import { type FieldNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

/** The fields of selection sets, including those in fragments. Visits each fragment once, since every spread has the same. */
export function fieldsIn(
  sets: readonly SelectionSetNode[],
  fragmentOf: (name: string) => FragmentDefinitionNode | undefined,
): FieldNode[] {
  const fields: FieldNode[] = [];
  const visited = new Set<string>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) fields.push(selection);
      else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet);
      else if (!visited.has(selection.name.value)) {
        visited.add(selection.name.value);
        const fragment = fragmentOf(selection.name.value);
        if (fragment) collect(fragment.selectionSet);
      }
    }
  };
  sets.forEach(collect);
  return fields;
}
