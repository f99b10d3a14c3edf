import { type FieldNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

/**
 * How often a selection selects the same field (with subfields) in one place of the answer. Validation compares all of them
 * and their contents with each other; leaf fields take a fraction of that and are not counted. Walks every fragment spread,
 * once per place, so the document must be within the other limits.
 */
export function mostRepeated(
  sets: readonly SelectionSetNode[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): number {
  const places = new Map<string, SelectionSetNode[]>();
  for (const { alias, name, selectionSet } of fieldsIn(sets, (fragment) => fragments.get(fragment))) {
    if (!selectionSet) continue;
    const key = (alias ?? name).value;
    const place = places.get(key);
    if (place) place.push(selectionSet);
    else places.set(key, [selectionSet]);
  }
  return Math.max(0, ...[...places.values()].map((place) => Math.max(place.length, mostRepeated(place, fragments))));
}

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
