import type { FieldDefinitionNode } from 'graphql';
import type { SchemaModel } from './model';
import { directiveOf, rowName } from './sdl';
import { namedType } from '../sdl/nodes';
import { COMPUTED_FIELDS, type Relation, type StoredType } from './storedTypes';
import type { BulkUpsert } from './upserts';

/*
 * The fields whose resolvers need no code of their own: lists, reads, relations, totals, entity tags, values of metadata, bulk calls, and changes
 * of one object. stored/derived.ts makes their resolvers.
 */

/** What a field does with objects of the stored type `of`. */
export type Derivation =
  | { readonly as: 'list' | 'read' | 'totals' | 'tag' | 'metadataValue'; readonly of: StoredType }
  /** The change of one object. */
  | { readonly as: 'change'; readonly of: StoredType }
  /** The object whose id is in a member of the row. */
  | { readonly as: 'reference'; readonly of: StoredType; readonly member: string }
  /** The objects that refer to the row, which is their parent. */
  | { readonly as: 'parentList'; readonly of: StoredType; readonly relation: Relation }
  | { readonly as: 'bulk'; readonly of: StoredType; readonly call: BulkUpsert };

export type DerivedField = Derivation & { readonly type: string; readonly field: FieldDefinitionNode };

/** The derived fields of Query, Mutation, stored types and the rows of totals. */
export function derivedFields(sdl: SchemaModel): DerivedField[] {
  const ofRoots = sdl.roots.flatMap(({ kind, field }) => {
    const derived = kind === 'Query' ? ofQuery(sdl, field) : ofMutation(sdl, field);
    return derived ? [{ ...derived, type: kind, field }] : [];
  });
  const ofTotals = sdl.roots.flatMap(({ field }) => {
    const rows = directiveOf(field, 'totals') && sdl.rowTypeOf(namedType(field.type));
    return sdl.fieldsOf(rows).flatMap((inner): DerivedField[] => {
      const of = sdl.stored.get(namedType(inner.type));
      return rows === undefined || !of
        ? []
        : [{ as: 'reference', of, member: `${inner.name.value}_id`, type: rows, field: inner }];
    });
  });
  return [...ofRoots, ...ofTotals, ...[...sdl.stored.values()].flatMap((stored) => ofStored(sdl, stored))];
}

function ofQuery({ stored }: SchemaModel, field: FieldDefinitionNode): Derivation | undefined {
  const total = directiveOf(field, 'totals');
  const summed = stored.get(total?.of ?? '');
  const listed = stored.get(rowName(field) ?? '');
  if (total) return summed && { as: 'totals', of: summed };
  if (listed?.collection === field.name.value) return { as: 'list', of: listed };
  const read = stored.get(namedType(field.type));
  const [argument, ...others] = field.arguments ?? [];
  return read && argument?.name.value === 'id' && others.length === 0 ? { as: 'read', of: read } : undefined;
}

function ofMutation({ stored, upserts }: SchemaModel, field: FieldDefinitionNode): Derivation | undefined {
  const call = upserts.find(({ operation }) => operation === field.name.value);
  if (call) return { as: 'bulk', of: call.stored, call };
  const changed = stored.get(namedType(field.type));
  const hasId = field.arguments?.some(({ name }) => name.value === 'id');
  return changed && hasId && directiveOf(field, 'rest')?.method === 'PATCH' ? { as: 'change', of: changed } : undefined;
}

function ofStored(sdl: SchemaModel, stored: StoredType): DerivedField[] {
  const { type, relations } = stored;
  const related = relations.flatMap((relation): DerivedField[] => {
    const { field, isList, member } = relation;
    const of = sdl.stored.get(relation.type);
    if (!of) return [];
    return [isList ? { as: 'parentList', of, relation, type, field } : { as: 'reference', of, member, type, field }];
  });
  const computed = sdl.fieldsOf(type).flatMap((field): DerivedField[] => {
    const as = COMPUTED_FIELDS.get(field.name.value);
    return as ? [{ as, of: stored, type, field }] : [];
  });
  return [...related, ...computed];
}
