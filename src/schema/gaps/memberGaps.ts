import { type DocumentNode, type FieldDefinitionNode, print } from 'graphql';
import { ETAG } from '../entityTags';
import type { ResolverTable } from '../resolvers';
import { omittedFrom } from '../restDocument';
import { directiveOf, fieldsOf, namedType } from '../sdl';
import { sentences } from './sentences';
import { type StoredMember, type StoredType, typesIn } from '../storedTypes';

/* Finds members of stored types that could not be stored, or are not. */

/** Members that rows have beside those of their type. */
const OF_ROWS = ['_id', 'search'];
/** Members that documents of Mongoose have themselves; tests hold them equal to its own list. */
export const OF_DOCUMENTS: readonly string[] = [
  ...['collection', 'emit', 'errors', 'get', 'init', 'isModified', 'isNew', 'listeners', 'populated', 'prototype'],
  ...['remove', 'removeListener', 'save', 'toObject', 'validate'],
];

/** One message per gap, with what to change where. */
export function memberGaps(document: DocumentNode, { type, members }: StoredType, resolvers: ResolverTable): string[] {
  const stored = new Set(members.map(({ name }) => name));
  const fields = fieldsOf(document, type);
  const inner = [...new Set(members.flatMap(typesIn))];
  return [
    ...nameGaps(type, members, [...OF_ROWS, ...OF_DOCUMENTS]),
    ...fieldGaps(
      type,
      fields.filter(({ name }) => stored.has(name.value)),
      resolvers,
    ),
    ...inner.flatMap((one) => fieldGaps(one, fieldsOf(document, one), resolvers)),
    ...tagGaps(
      type,
      fields.find(({ name }) => name.value === ETAG),
    ),
  ];
}

function nameGaps(type: string, members: readonly StoredMember[], reserved: readonly string[]): string[] {
  return members.flatMap(({ name, type: inner, members: others }) => [
    ...sentences(reserved.includes(name) && `${type}.${name} has a name that the storage uses itself: rename it`),
    ...nameGaps(inner, others, OF_DOCUMENTS),
  ]);
}

/** Gaps of fields that are stored and nothing else. */
function fieldGaps(type: string, fields: readonly FieldDefinitionNode[], resolvers: ResolverTable): string[] {
  return fields.flatMap((field) => {
    const {
      name: { value: name },
      arguments: args = [],
    } = field;
    const { min, max } = directiveOf(field, 'constraint') ?? {};
    return sentences(
      namedType(field.type) === 'Float' &&
        (min === undefined || max === undefined) &&
        `${type}.${name} is a Float without both bounds, which the sums of its values need: add @constraint(min:, max:)`,
      resolvers[type]?.[name] &&
        `${type}.${name} has a resolver, but is stored, so that an import requires it: remove one of them`,
      ...args.map((argument) => `${type}.${name}(${argument.name.value}:) has no effect on what is stored: remove it`),
    );
  });
}

function tagGaps(type: string, tag: FieldDefinitionNode | undefined): string[] {
  const isRight = !tag || (print(tag.type) === 'String!' && omittedFrom(tag) === 'EVERYWHERE');
  return sentences(!isRight && `${type}.${ETAG} is the entity tag: write ${ETAG}: String! @graphql_only`);
}
