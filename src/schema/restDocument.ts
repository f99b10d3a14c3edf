import {
  type DefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  Kind,
  type NamedTypeNode,
  type TypeNode,
} from 'graphql';
import { METADATA_SCALARS } from './metadata';
import { directiveOf, isObjectNode, isRootType, type OmittedFrom, rowName, type Sdl, SUBSCRIPTION } from './sdl';
import { namedType } from '../sdl/nodes';

/**
 * The SDL of the REST API: only root fields with @rest, no subscriptions, and no fields that REST omits everywhere (@graphql_only). Those that it
 * has in some routes or with `include` stay. Sofa selects every field of this schema, so a field that is not in it cannot leak. For metadata, an
 * object in REST, a scalar stands.
 */
export function deriveRestDocument({ document, roots }: Sdl): DocumentNode {
  const hasWrites = roots.some(({ kind, field }) => kind === 'Mutation' && directiveOf(field, 'rest'));
  const definitions = document.definitions.flatMap((node): DefinitionNode[] => {
    if ('name' in node && Object.hasOwn(METADATA_SCALARS, node.name.value)) return [];
    if (node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION || node.kind === Kind.INPUT_OBJECT_TYPE_EXTENSION)
      return [{ ...node, fields: (node.fields ?? []).map(withRestType) }];
    if (!isObjectNode(node)) return [node];
    const { value: name } = node.name;
    // a type without fields would make the schema invalid
    if (name === SUBSCRIPTION || (name === 'Mutation' && !hasWrites)) return [];
    const fields = (node.fields ?? []).filter(
      (field) => omittedFrom(field) !== 'EVERYWHERE' && (!isRootType(name) || directiveOf(field, 'rest')),
    );
    return [{ ...node, fields: fields.map(restField) }];
  });
  const scalars = new Set(Object.values(METADATA_SCALARS));
  return { ...document, definitions: [...definitions, ...[...scalars].map(scalarOf)] };
}

function restField(field: FieldDefinitionNode): FieldDefinitionNode {
  return { ...withRestType(field), arguments: (field.arguments ?? []).map(withRestType) };
}

/** The field or input with the type that it has in REST: for metadata, one scalar in place of the whole list of pairs. */
function withRestType<T extends { readonly type: TypeNode }>(node: T): T {
  const scalar = METADATA_SCALARS[namedType(node.type)];
  if (scalar === undefined) return node;
  const type: NamedTypeNode = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: scalar } };
  return { ...node, type: node.type.kind === Kind.NON_NULL_TYPE ? { kind: Kind.NON_NULL_TYPE, type } : type };
}

function scalarOf(name: string): DefinitionNode {
  return { kind: Kind.SCALAR_TYPE_DEFINITION, name: { kind: Kind.NAME, value: name } };
}

/** The fields that `include` adds to the objects of a route, which otherwise lack them. */
export function includedFields(sdl: Sdl, route: FieldDefinitionNode): FieldDefinitionNode[] {
  // pages are known by their name, totals by their `data`
  const rowType = rowName(route) ?? sdl.rowTypeOf(namedType(route.type));
  return sdl.fieldsOf(rowType ?? namedType(route.type)).filter((field) => {
    const from = omittedFrom(field);
    return from === 'UNLESS_INCLUDED' || (from === 'LISTS' && rowType !== undefined);
  });
}

/** The value of `include` that adds a field which REST omits otherwise. */
export function includeValue(field: FieldDefinitionNode): string {
  return directiveOf(field, 'graphql_only')?.include ?? field.name.value;
}

/** Where REST omits a field: in lists, wherever `include` does not name it, or everywhere; undefined if nowhere. */
export function omittedFrom(field: FieldDefinitionNode): OmittedFrom | undefined {
  return directiveOf(field, 'graphql_only')?.on;
}
