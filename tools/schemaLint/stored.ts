import { type FieldDefinitionNode, Kind, print } from 'graphql';
import { errorsAt } from '../../src/schema/checks/errors';
import { ETAG } from '../../src/schema/entityTags';
import { filterOf } from '../../src/schema/filters';
import { omittedFrom } from '../../src/schema/restDocument';
import { directiveOf, isListType, namedType, rowName } from '../../src/schema/sdl';
import { ownerOf, type StoredMember, typeOf, typesIn } from '../../src/schema/storedTypes';
import type { Found, Model, Rules } from './model';

/* Stored types, their indexes and members, and what leads to them. */

/** Index members that are not in any type. */
const OWN_MEMBERS = ['_id', 'search'];

function searchableIn(members: readonly StoredMember[]): StoredMember[] {
  return members.flatMap((member) => [...(member.isSearchable ? [member] : []), ...searchableIn(member.members)]);
}

/** The stored types, and the types inside them. */
function storedIn({ sdl }: Model): ReadonlySet<string> {
  return new Set([
    ...sdl.stored.keys(),
    ...[...sdl.stored.values()].flatMap(({ members }) => members.flatMap(typesIn)),
  ]);
}

/** A rule about stored fields. */
function kept(says: (field: FieldDefinitionNode, owner: string, model: Model) => Found) {
  return {
    field: ({ node, owner }: { readonly node: FieldDefinitionNode; readonly owner: string }, model: Model): Found => {
      const stored = model.sdl.stored.get(owner);
      const isStored = stored ? typeOf(stored, node.name.value) !== undefined : storedIn(model).has(owner);
      return isStored ? says(node, owner, model) : [];
    },
  };
}

export const STORED: Rules = {
  'stored-members': {
    stored: ({ members, omittedInLists }) => {
      const has = (name: string, wanted: string): boolean =>
        members.some((member) => member.name === name && member.type === wanted && member.isRequired);
      return [
        !has('id', 'ID') && 'is @stored but has no id: add id: ID!',
        !has('created_at', 'DateTime') &&
          'is @stored but has no created_at, which lists are sorted by: add created_at: DateTime!',
        omittedInLists.includes('created_at') &&
          'has created_at with @graphql_only(on: LISTS), but lists are sorted by it: remove @graphql_only',
      ];
    },
  },
  'stored-unique': {
    stored: ({ unique, members }) => {
      const member = members.find(({ name }) => name === unique);
      if (unique === undefined) return [];
      if (!member) return [`has @stored(unique: "${unique}"), but no member ${unique}`];
      const isRight = member.isRequired && !member.isList && (member.kind === 'string' || member.kind === 'number');
      return [
        !isRight && `has @stored(unique: "${unique}"), which must be a single string or number that is never null`,
      ];
    },
  },
  'stored-list': {
    stored: (stored, { sdl, roots }) => {
      const { type, collection } = stored;
      const isListed = roots.some(({ node }) => node.name.value === collection && rowName(node) === type);
      return [
        !isListed &&
          !ownerOf(stored, sdl.stored.values()) &&
          `is @stored, but no Query.${collection} lists it: add one that returns ${type}Page, since its scope decides who gets its events`,
      ];
    },
  },
  'stored-index': {
    stored: (stored, { resources }) => {
      const { type, collection, unique } = stored;
      const indexes = resources.get(collection)?.indexes ?? [];
      const indexed = new Set(indexes.flatMap(({ on }) => Object.keys(on)));
      const uniqueKeys = indexes
        // a partial index is a rule of the resource, which @stored cannot express
        .filter(({ options }) => options?.unique === true && !options.partialFilterExpression)
        .map(({ on }) => Object.keys(on).join(', '));
      const allowed = unique === undefined ? 'has no unique member' : `can only have unique ${unique}`;
      return [
        ...[...indexed]
          .filter((member) => ![...OWN_MEMBERS, 'id'].includes(member) && typeOf(stored, member) === undefined)
          .map((member) => `has an index with ${member} in ${collection}, but no such member`),
        indexed.has('id') && `has an index with id in ${collection}, which is stored as _id: write _id`,
        ...uniqueKeys
          .filter((keys) => keys !== unique)
          .map(
            (keys) =>
              `has a unique index of ${keys}, but ${type} ${allowed}: name one in @stored(unique:), or remove unique`,
          ),
      ];
    },
  },
  'stored-twice': {
    schema: ({ resources, defined }) =>
      errorsAt(
        undefined,
        ...[...resources.keys()].map(
          (name) =>
            defined.filter((one) => one.name === name).length > 1 &&
            `the resource ${name} is in src/resources/index.ts more than once: remove the others`,
        ),
      ),
  },
  'stored-resolver': kept(({ name }, owner, { resolvers }) => [
    resolvers[owner]?.[name.value] &&
      'has a resolver, but is stored, so that an import requires it: remove one of them',
  ]),
  'stored-hidden': kept((field) => [
    omittedFrom(field) === 'EVERYWHERE' &&
      'is stored but has @graphql_only, so exports would lose it: remove @graphql_only',
  ]),
  'stored-argument': kept(({ arguments: args = [] }) =>
    args.map(({ name }) => `takes ${name.value}, which has no effect on what is stored: remove it`),
  ),
  'stored-float': kept((field) => {
    const { min, max } = directiveOf(field, 'constraint') ?? {};
    return [
      namedType(field.type) === 'Float' &&
        (min === undefined || max === undefined) &&
        'is a Float without both bounds, which the sums of its values need: add @constraint(min:, max:)',
    ];
  }),
  etag: {
    field: ({ node, owner }, { sdl }) => [
      sdl.stored.has(owner) &&
        node.name.value === ETAG &&
        (print(node.type) !== 'String!' || omittedFrom(node) !== 'EVERYWHERE') &&
        `is the entity tag: write ${ETAG}: String! @graphql_only`,
    ],
  },
  'read-id': {
    root: ({ kind, node }, { sdl }) => {
      const id = node.arguments?.find(({ name }) => name.value === 'id');
      const isRead = kind === 'query' && sdl.stored.has(namedType(node.type));
      return [isRead && id && print(id.type) !== 'ID!' && `takes id as ${print(id.type)}: write id: ID!`];
    },
  },
  search: {
    stored: ({ type, collection, members }, { roots }) => {
      const list = roots.find(({ node }) => node.name.value === collection);
      const search = list?.node.arguments?.find((argument) => filterOf(argument)?.by === 'WORDS');
      const searchable = searchableIn(members);
      return [
        search &&
          searchable.length === 0 &&
          `is searched by Query.${collection}(${search.name.value}:), but no member of ${type} is @searchable`,
        !search &&
          searchable.length > 0 &&
          `has members that are @searchable, but no argument of Query.${collection} has @filter(by: WORDS)`,
      ];
    },
  },
  searchable: {
    field: ({ node, owner, kind }, model) => {
      if (kind !== 'member' || !directiveOf(node, 'searchable')) return [];
      const type = namedType(node.type);
      if (!storedIn(model).has(owner)) return [`is @searchable, but no stored type contains a ${owner}`];
      return [type !== 'String' && `is @searchable but ${type}: only strings can be`];
    },
  },
  'relation-reference': {
    relation: ({ field, type, member, isList }, stored) => {
      if (isList) return [];
      return [
        ...(field.arguments ?? []).map(({ name }) => `takes ${name.value}, which has no effect: remove it`),
        field.type.kind === Kind.NON_NULL_TYPE && 'is non-null, but what it refers to may be gone: remove !',
        !isListType(field.type) &&
          typeOf(stored, member) !== 'ID' &&
          `is a ${type}, but no member ${member} of type ID refers to it`,
        stored.omittedInLists.includes(member) &&
          `is referred to by ${member}, which lists omit: remove its @graphql_only(on: LISTS)`,
      ];
    },
  },
  'relation-list': {
    relation: ({ field, type, member, isList }, _stored, { sdl }) =>
      isList
        ? [
            ...(field.arguments ?? []).map(
              ({ name: { value } }) =>
                !['limit', 'cursor'].includes(value) && `takes ${value}: a nested list takes only limit and cursor`,
            ),
            typeOf(sdl.stored.get(type), member) !== 'ID' &&
              `is a list of ${type}, which has no member ${member} of type ID`,
          ]
        : [],
  },
  'relation-rest': {
    relation: ({ field, isList }) => [
      omittedFrom(field) === undefined &&
        `${isList ? 'is a list' : 'refers to another object'}: add @graphql_only, since REST has no other objects`,
      omittedFrom(field) === 'LISTS' &&
        'has @graphql_only(on: LISTS), but REST has other objects only if `include` names them: write on: UNLESS_INCLUDED, or remove it',
      isList &&
        omittedFrom(field) === 'UNLESS_INCLUDED' &&
        'is a list, which `include` cannot add: remove (on: UNLESS_INCLUDED)',
    ],
  },
  'relation-inside': {
    field: ({ node, owner }, model) => {
      const { sdl } = model;
      const other = [rowName(node) ?? '', namedType(node.type)].find((one) => sdl.stored.has(one));
      return [
        other !== undefined &&
          !sdl.stored.has(owner) &&
          storedIn(model).has(owner) &&
          `leads to the type ${other}, but only fields of types with @stored can: move it to the stored type that contains ${owner}`,
      ];
    },
  },
};
