import { type DefinitionNode, type FieldDefinitionNode, Kind, print } from 'graphql';
import { filterOf, SEARCH_MEMBER } from '../filters';
import { METADATA, PAIR } from '../metadata';
import type { SchemaModel } from '../model';
import { omittedFrom } from '../restDocument';
import { directiveOf, isListType, isRootType, rowName, ROWS, SUBSCRIPTION } from '../sdl';
import { namedType } from '../../sdl/nodes';
import { ownerOf, ownersOf, referenceTo, type StoredMember, type StoredType, typeOf, typesIn } from '../storedTypes';
import { errorsAt, nodeOf, type SchemaError } from './errors';

/* Finds stored types that lack what their lists need, and fields that REST, exports or the search could not serve as the SDL says. */

export function typeErrors(sdl: SchemaModel): SchemaError[] {
  const inner = new Set([...sdl.stored.values()].flatMap(({ members }) => members.flatMap(typesIn)));
  return [
    ...[...sdl.stored.values()].flatMap((stored) => storedErrors(sdl, stored)),
    ...sdl.fields.flatMap(({ type, field }) => memberErrors(sdl, type, field, inner)),
    ...sdl.document.definitions.flatMap((node) => emptyErrors(sdl, node)),
  ];
}

/** Checks what lists, the search and relations need of a stored type. */
function storedErrors(sdl: SchemaModel, stored: StoredType): SchemaError[] {
  const { type, collection, members, relations } = stored;
  const has = (name: string, wanted: string): boolean =>
    members.some((member) => member.name === name && member.type === wanted && member.isRequired);
  const list = sdl.rootField(collection);
  // a list with another name is an error of its own
  const isMisnamed = !list && sdl.roots.some(({ field }) => rowName(field) === type);
  const search = list?.arguments?.find((argument) => filterOf(argument)?.by === 'WORDS');
  const isSearchable = searchableIn(members).length > 0;
  // of what a part belongs to (a message to a request) there must be one type
  const [owner, other] = ownersOf(stored, sdl.stored.values());
  // events, erasures and deletions look for the parts of an object, but not for parts of these
  const outer = owner && ownerOf(owner, sdl.stored.values());
  return [
    ...errorsAt(
      nodeOf(sdl, type),
      !has('id', 'ID') && `${type} is @stored but has no id: add id: ID!`,
      !has('created_at', 'DateTime') &&
        `${type} is @stored but has no created_at, which lists are sorted by: add created_at: DateTime!`,
      search &&
        !isSearchable &&
        `${type} is searched by Query.${collection}(${search.name.value}:), but no member of ${type} is @searchable`,
      !search &&
        isSearchable &&
        !isMisnamed &&
        `${type} has members that are @searchable, but no argument of Query.${collection} has @filter(by: WORDS)`,
      // the scope of the list is that of events and attachments, too; a part has its owner's
      !list &&
        !isMisnamed &&
        !owner &&
        `${type} is @stored but nothing says which scope reads it: add ${collection}: ${type}Page with @access(scope:) to Query`,
      !other &&
        outer &&
        (owner === stored
          ? `${type} lacks updated_at, so it would be part of itself by ${referenceTo(type)}: add updated_at: DateTime!`
          : `${type} lacks updated_at, so it would be part of ${owner.type}, which is itself part of ${outer.type}: add updated_at: DateTime! to ${type}, or to ${owner.type}`),
      other &&
        `${type} lacks updated_at, so it would be part of both ${String(owner?.type)} and ${other.type}: add updated_at: DateTime!, or refer to one of them`,
    ),
    ...relations.flatMap(({ field, type: other, member, isList }) =>
      errorsAt(
        field,
        !isListType(field.type) &&
          typeOf(isList ? sdl.stored.get(other) : stored, member) !== 'ID' &&
          `${type}.${field.name.value} needs a member ${member} of type ID in ${isList ? other : type}: add it`,
      ),
    ),
  ];
}

function searchableIn(members: readonly StoredMember[]): StoredMember[] {
  return members.flatMap((member) => [...(member.isSearchable ? [member] : []), ...searchableIn(member.members)]);
}

/**
 * Checks whether REST and exports may have a field of an object type, and its metadata and search. `inner` are the types of which stored objects
 * consist.
 */
function memberErrors(
  sdl: SchemaModel,
  type: string,
  field: FieldDefinitionNode,
  inner: ReadonlySet<string>,
): SchemaError[] {
  if (isRootType(type) || type === SUBSCRIPTION) return [];
  const place = `${type}.${field.name.value}`;
  const from = omittedFrom(field);
  const stored = sdl.stored.get(type);
  const isStored = stored ? typeOf(stored, field.name.value) !== undefined : inner.has(type);
  const related = [rowName(field), namedType(field.type)].find((name) => sdl.stored.has(name ?? ''));
  const isRelation = stored?.relations.some((relation) => relation.field === field) ?? false;
  return errorsAt(
    field,
    stored &&
      field.name.value === SEARCH_MEMBER &&
      `${place} has the name of the words that a search finds, which the gateway stores: choose another`,
    // REST, its OpenAPI document and the tools know pages and totals by it
    stored && field.name.value === ROWS && `${place} has the name of the rows of a page: choose another`,
    isStored &&
      (field.name.value === METADATA || namedType(field.type) === PAIR) &&
      !(stored && field.name.value === METADATA && print(field.type) === `[${PAIR}!]!`) &&
      `${place} is ${print(field.type)}: metadata is ${METADATA}: [${PAIR}!]! of a type with @stored`,
    isStored &&
      namedType(field.type) === PAIR &&
      directiveOf(field, 'constraint')?.max_items === undefined &&
      `${place} takes any number of pairs: add @constraint(max_items: 50)`,
    inner.has(type) &&
      related !== undefined &&
      `${place} leads to a ${related}, but is in an object inside another, where it would always be null: write ${field.name.value}_id: ID, with which callers get the ${related} by its own operation`,
    isRelation &&
      (from === undefined || from === 'LISTS') &&
      `${place} leads to another object, which REST has only if \`include\` names it: add @graphql_only, or @graphql_only(on: UNLESS_INCLUDED)`,
    !isRelation &&
      from === undefined &&
      directiveOf(field, 'access') &&
      `${place} has its own @access, but REST returns every field to all who may call it: add @graphql_only`,
    isStored &&
      from === 'EVERYWHERE' &&
      `${place} is stored but has @graphql_only, so exports would lose it: remove @graphql_only`,
    directiveOf(field, 'searchable') &&
      namedType(field.type) !== 'String' &&
      `${place} is ${print(field.type)}, but the search finds words of a String only: remove @searchable`,
  );
}

/** Checks that REST has a field of each object type, since GraphQL has no type without any. */
function emptyErrors(sdl: SchemaModel, node: DefinitionNode): SchemaError[] {
  if (node.kind !== Kind.OBJECT_TYPE_DEFINITION) return [];
  const { value: name } = node.name;
  if (isRootType(name) || name === SUBSCRIPTION) return [];
  const isEmpty = sdl.fieldsOf(name).every((field) => omittedFrom(field) === 'EVERYWHERE');
  return errorsAt(node, isEmpty && `${name} has no field in REST: remove @graphql_only from one`);
}
