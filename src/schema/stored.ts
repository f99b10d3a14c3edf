import { type ConstDirectiveNode, type DocumentNode, type FieldDefinitionNode, Kind, type TypeNode } from 'graphql';
import { ETAG } from './entityTags';
import { directiveOf, isLeftOut, isObjectNode, optionalStringArgument, rowName, stringArgument } from './sdl';

/* What the database stores of a type, from @stored and the fields (docs/decisions/schema-decides.md). */

/** A member of a stored type, or of an object inside one. */
export interface StoredMember {
  readonly name: string;
  readonly kind: 'text' | 'number' | 'flag' | 'date' | 'object';
  /** Name of its scalar, enum or object type. */
  readonly type: string;
  readonly isRequired: boolean;
  readonly isList: boolean;
  readonly isSearchable: boolean;
  /** Members of an object, or of each object in a list; otherwise empty. */
  readonly members: readonly StoredMember[];
}

export interface StoredType {
  readonly type: string;
  readonly collection: string;
  /** The member that is unique in the organisation. */
  readonly unique: string | undefined;
  readonly members: readonly StoredMember[];
  /** Members that the rows of lists have only if selected. */
  readonly heldBack: readonly string[];
}

const KINDS: Readonly<Record<string, StoredMember['kind']>> = {
  ID: 'text',
  String: 'text',
  Date: 'text',
  Int: 'number',
  Float: 'number',
  Minor: 'number',
  Boolean: 'flag',
  DateTime: 'date',
};

/** The stored types of a schema, by name. */
export function storedTypes(document: DocumentNode): ReadonlyMap<string, StoredType> {
  const directives = new Map(
    document.definitions.filter(isObjectNode).flatMap((node) => {
      const stored = directiveOf(node, 'stored');
      return stored ? [[node.name.value, stored] as const] : [];
    }),
  );
  const names = new Set(directives.keys());
  return new Map([...directives].map(([type, directive]) => [type, readStored(document, type, directive, names)]));
}

function readStored(
  document: DocumentNode,
  type: string,
  directive: ConstDirectiveNode,
  stored: ReadonlySet<string>,
): StoredType {
  const heldBack = fieldsOf(document, type).filter((field) => isLeftOut(field, 'LISTS'));
  return {
    type,
    collection: stringArgument(directive, 'collection'),
    unique: optionalStringArgument(directive, 'unique'),
    members: membersOf(document, type, stored),
    heldBack: heldBack.map(({ name }) => name.value),
  };
}

/** The stored fields: all but references to other stored objects, and the entity tag. */
function membersOf(document: DocumentNode, type: string, stored: ReadonlySet<string>): StoredMember[] {
  return fieldsOf(document, type)
    .filter((field) => !(stored.has(type) && field.name.value === ETAG))
    .filter((field) => !stored.has(namedType(field.type)) && !stored.has(rowName(field) ?? ''))
    .map((field) => memberOf(document, field, stored));
}

function memberOf(document: DocumentNode, field: FieldDefinitionNode, stored: ReadonlySet<string>): StoredMember {
  const type = namedType(field.type);
  const isObject = document.definitions.some((node) => isObjectNode(node) && node.name.value === type);
  return {
    name: field.name.value,
    // enum values are strings
    kind: isObject ? 'object' : (KINDS[type] ?? 'text'),
    type,
    isRequired: field.type.kind === Kind.NON_NULL_TYPE,
    isList: isListType(field.type),
    isSearchable: directiveOf(field, 'searchable') !== undefined,
    members: isObject ? membersOf(document, type, stored) : [],
  };
}

/** The fields of the rows that a page or totals hold; undefined if the type has none. */
export function rowFieldsOf(document: DocumentNode, type: string | undefined): FieldDefinitionNode[] | undefined {
  const data = fieldsOf(document, type).find(({ name }) => name.value === 'data');
  return data && fieldsOf(document, namedType(data.type));
}

/** The amounts that totals sum: Minor members that both the result rows and the stored type have. */
export function totalledAmounts(document: DocumentNode, field: FieldDefinitionNode, { members }: StoredType): string[] {
  const sums = new Set(rowFieldsOf(document, namedType(field.type))?.map(({ name }) => name.value));
  return members.filter(({ name, type }) => type === 'Minor' && sums.has(name)).map(({ name }) => name);
}

/** The member by which other objects refer to one of a type: CustomerOrder → customer_order_id. */
export function referenceTo(type: string): string {
  return `${type.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '_').toLowerCase()}_id`;
}

export function fieldsOf(document: DocumentNode, type: string | undefined): FieldDefinitionNode[] {
  return document.definitions
    .filter(isObjectNode)
    .flatMap((node) => (node.name.value === type ? (node.fields ?? []) : []));
}

export function namedType(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type);
}

export function isListType(type: TypeNode): boolean {
  return type.kind === Kind.LIST_TYPE || (type.kind === Kind.NON_NULL_TYPE && isListType(type.type));
}
