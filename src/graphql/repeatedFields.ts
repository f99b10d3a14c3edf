import { type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/**
 * How often a selection selects the same field (with subfields) in one place of the answer. Validation compares all of them
 * and their contents with each other; leaf fields take a fraction of that and are not counted. Walks every fragment spread,
 * once per place, so the document must be within the other limits.
 */
export function mostRepeated(sets: readonly SelectionSetNode[], fragments: Fragments): number {
  const places = new Map<string, SelectionSetNode[]>();
  const visited = new Set<string>();

  function collect(set: SelectionSetNode): void {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        if (!selection.selectionSet) continue;
        const key = (selection.alias ?? selection.name).value;
        const place = places.get(key);
        if (place) place.push(selection.selectionSet);
        else places.set(key, [selection.selectionSet]);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        collect(selection.selectionSet);
      } else if (!visited.has(selection.name.value)) {
        visited.add(selection.name.value);
        const fragment = fragments.get(selection.name.value);
        if (fragment) collect(fragment.selectionSet);
      }
    }
  }

  for (const set of sets) collect(set);
  return Math.max(0, ...[...places.values()].map((place) => Math.max(place.length, mostRepeated(place, fragments))));
}
