import { type DocumentNode, type FieldDefinitionNode, print } from 'graphql';
import { directiveOf, namedType, rootFieldNodes, rowName } from '../sdl';
import { sentences } from './sentences';
import { ownerOf, type StoredType, type Types } from '../storedTypes';

/* Finds stored types that the wrong keys could read, and reads by id that would not find what they name. */

/** One message per gap, with what to change where. */
export function readGaps(document: DocumentNode, types: Types): string[] {
  const fields = rootFieldNodes(document);
  const ofFields = fields.flatMap(({ kind, field }) => {
    const shown = shownType(field, types);
    if (!shown) return [];
    const found = [...scopeGaps(field, shown), ...(kind === 'Query' ? idGaps(field, types) : [])];
    return found.map((gap) => `${kind}.${field.name.value}${gap}`);
  });
  const isListed = ({ type, collection }: StoredType): boolean =>
    fields.some(({ kind, field }) => kind === 'Query' && field.name.value === collection && rowName(field) === type);
  const unlisted = [...types.values()].filter((stored) => !isListed(stored) && !ownerOf(stored, types.values()));
  return [
    ...ofFields,
    ...unlisted.map(
      ({ type, collection }) =>
        `${type} is @stored, but no Query.${collection} lists it: add one, since its scope decides who hears of changes`,
    ),
  ];
}

/** The stored type whose objects, pages or totals a root field returns. */
function shownType(field: FieldDefinitionNode, types: Types): StoredType | undefined {
  const names = [directiveOf(field, 'totals')?.of, rowName(field), namedType(field.type)];
  return names.flatMap((name) => types.get(name ?? '') ?? [])[0];
}

function scopeGaps(field: FieldDefinitionNode, { type, collection }: StoredType): string[] {
  const access = directiveOf(field, 'access');
  // a field without @access is reported anyway
  if (!access || access.scope !== undefined) return [];
  const isOpen = Object.keys(access).length === 0;
  return sentences(
    isOpen && ` has @access without a scope, so any key could read each ${type}: name one`,
    !isOpen &&
      field.name.value === collection &&
      ` has @access without scope, which decides who hears of changes of ${collection}: use a single scope`,
  );
}

function idGaps(field: FieldDefinitionNode, types: Types): string[] {
  const id = field.arguments?.find(({ name }) => name.value === 'id');
  const isRead = types.has(namedType(field.type));
  return sentences(isRead && id && print(id.type) !== 'ID!' && `(id:) is ${print(id.type)}: write id: ID!`);
}
