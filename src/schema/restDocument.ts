import type { DefinitionNode, DocumentNode, FieldDefinitionNode } from 'graphql';
import { allFieldNodes, directiveOf, isObjectNode, isRootType, rootFieldNodes, rowName, SUBSCRIPTION } from './sdl';

/**
 * The SDL of the REST API: only root fields with @rest, no fields with @graphql_only, and no subscriptions. Sofa selects every field of
 * this schema, so fields that are not here cannot leak.
 */
export function deriveRestDocument(document: DocumentNode): DocumentNode {
  const hasWrites = rootFieldNodes(document).some(
    ({ kind, field }) => kind === 'Mutation' && directiveOf(field, 'rest'),
  );
  const definitions = document.definitions.flatMap((node): DefinitionNode[] => {
    if (!isObjectNode(node)) return [node];
    const { value: name } = node.name;
    // a type without fields would make the schema invalid
    if (name === SUBSCRIPTION || (name === 'Mutation' && !hasWrites)) return [];
    const fields = (node.fields ?? []).filter(
      (field) => omittedFrom(field) !== 'EVERYWHERE' && (!isRootType(name) || directiveOf(field, 'rest')),
    );
    return [{ ...node, fields }];
  });
  return { ...document, definitions };
}

/** The value of `include` for each REST list, by list name: the field that its items lack. */
export function findIncludes(document: DocumentNode): ReadonlyMap<string, string> {
  const omitted = itemsOf(document);
  return new Map(
    rootFieldNodes(document).flatMap(({ field }) => {
      const included = directiveOf(field, 'rest') && omitted.get(rowName(field) ?? '');
      return included === undefined ? [] : [[field.name.value, included] as const];
    }),
  );
}

/** Where REST omits a field. */
export function omittedFrom(field: FieldDefinitionNode): 'LISTS' | 'EVERYWHERE' | undefined {
  return directiveOf(field, 'graphql_only')?.on;
}

/** The field that lists omit, by type. @throws Error if a type has several, since `include` has one value */
function itemsOf(document: DocumentNode): ReadonlyMap<string, string> {
  const omitted = allFieldNodes(document).filter(({ field }) => omittedFrom(field) === 'LISTS');
  const byType = new Map(omitted.map(({ type, field }) => [type, field.name.value]));
  if (byType.size < omitted.length)
    throw new Error('invalid schema: a type has more than one field with @graphql_only(on: LISTS)');
  return byType;
}

/** The name that the OpenAPI document gives to rows of lists that omit a field of their type. */
export function itemName(type: string): string {
  return `${type}Item`;
}
