import type { DefinitionNode, DocumentNode, FieldDefinitionNode } from 'graphql';
import {
  directiveOf,
  isObjectNode,
  isRootType,
  namedType,
  type OmittedFrom,
  rowName,
  type Sdl,
  SUBSCRIPTION,
} from './sdl';

/**
 * The SDL of the REST API: only root fields with @rest, no fields with @graphql_only, and no subscriptions. Sofa selects every field of
 * this schema, so a field that is not in it cannot leak.
 */
export function deriveRestDocument({ document, roots }: Sdl): DocumentNode {
  const hasWrites = roots.some(({ kind, field }) => kind === 'Mutation' && directiveOf(field, 'rest'));
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

/** The fields that `include` adds to the objects of a route, which otherwise lack them. */
export function includedFields(sdl: Sdl, route: FieldDefinitionNode): FieldDefinitionNode[] {
  const rows = rowName(route);
  return sdl.fieldsOf(rows ?? namedType(route.type)).filter((field) => {
    const from = omittedFrom(field);
    return from === 'UNLESS_INCLUDED' || (from === 'LISTS' && rows !== undefined);
  });
}

/** Where REST omits a field. */
export function omittedFrom(field: FieldDefinitionNode): OmittedFrom | undefined {
  return directiveOf(field, 'graphql_only')?.on;
}
