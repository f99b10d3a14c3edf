import type { FragmentDefinitionNode, SelectionSetNode } from 'graphql';
import { fieldsIn } from './selections';

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
