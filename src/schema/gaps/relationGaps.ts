import type { DocumentNode, FieldDefinitionNode } from 'graphql';
import { Kind } from 'graphql';
import { omittedFrom } from '../restDocument';
import { directiveOf, fieldsOf, isListType, namedType, rowName } from '../sdl';
import { type CheckedResource, sentences } from './sentences';
import { type Relation, type StoredType, typeOf, type Types, typesIn } from '../storedTypes';

/* Finds fields that lead to other stored objects and would not do what the schema says. */

/** One message per gap, with what to change where. */
export function relationGaps(
  document: DocumentNode,
  types: Types,
  resources: ReadonlyMap<string, CheckedResource>,
): string[] {
  const ofTypes = [...types.values()].flatMap((stored) =>
    stored.relations.flatMap((relation) => {
      const found = [
        ...accessGaps(relation),
        ...(relation.isList ? childGaps(relation, types, resources) : referenceGaps(relation, stored)),
      ];
      return found.map((gap) => `${stored.type}.${relation.field.name.value} ${gap}`);
    }),
  );
  return [...ofTypes, ...innerGaps(document, types)];
}

function accessGaps({ field, type }: Relation): string[] {
  const access = directiveOf(field, 'access');
  return sentences(
    Object.keys(access ?? {}).length === 0 &&
      `leads to the type ${type}, which any key could read: add @access with the scope of reading it`,
  );
}

/** Gaps of a field that lists the objects that refer to this one. */
function childGaps(
  { field, type, member }: Relation,
  types: Types,
  resources: ReadonlyMap<string, CheckedResource>,
): string[] {
  const listed = types.get(type);
  const collection = listed?.collection ?? '';
  const isIndexed = resources.get(collection)?.indexes.some(({ on }) => Object.keys(on)[0] === member) ?? false;
  const others = (field.arguments ?? []).filter(({ name: { value } }) => value !== 'limit' && value !== 'cursor');
  const isReferring = typeOf(listed, member) === 'ID';
  return sentences(
    ...others.map((argument) => `takes ${argument.name.value}: a nested list takes only limit and cursor`),
    !directiveOf(field, 'graphql_only') && 'is a list: add @graphql_only, since REST has no nested lists',
    inLists(field),
    !isReferring && `is a list of ${type}, which has no member ${member} of type ID`,
    isReferring && !isIndexed && `is a list of ${type}, but no index of ${collection} begins with ${member}`,
  );
}

/** Gaps of a field that is the object a member refers to. */
function referenceGaps({ field, type, member }: Relation, stored: StoredType): string[] {
  return sentences(
    ...(field.arguments ?? []).map((argument) => `takes ${argument.name.value}, which has no effect: remove it`),
    isListType(field.type) && `is a list of ${type}: use ${type}Page, or a single object`,
    field.type.kind === Kind.NON_NULL_TYPE && `is non-null, but what it refers to may be gone: remove !`,
    typeOf(stored, member) !== 'ID' && `is a ${type}, but no member ${member} of type ID refers to it`,
    stored.omittedInLists.includes(member) &&
      `is referred to by ${member}, which lists omit: remove its @graphql_only(on: LISTS)`,
    !directiveOf(field, 'graphql_only') &&
      'refers to another object: add @graphql_only, since REST returns only the id',
    inLists(field),
  );
}

function inLists(field: FieldDefinitionNode): string | false {
  return (
    omittedFrom(field) === 'LISTS' &&
    'has @graphql_only(on: LISTS), but REST never has other objects: remove (on: LISTS)'
  );
}

/** Finds relations of types inside stored ones, which nothing resolves. */
function innerGaps(document: DocumentNode, types: Types): string[] {
  const inner = new Set([...types.values()].flatMap(({ members }) => members.flatMap(typesIn)));
  return [...inner].flatMap((type) =>
    fieldsOf(document, type).flatMap((field) => {
      const other = [rowName(field) ?? '', namedType(field.type)].find((one) => types.has(one));
      return sentences(
        other !== undefined &&
          `${type}.${field.name.value} leads to the type ${other}, but only fields of types with @stored can: move it to the one around ${type}`,
      );
    }),
  );
}
