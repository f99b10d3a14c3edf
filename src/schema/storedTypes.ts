import { type FieldDefinitionNode, Kind } from 'graphql';
import { ATTACHMENT } from './attachmentNames';
import { ETAG } from './entityTags';
import { METADATA_VALUE, PAIR } from './metadata';
import { omittedFrom } from './restDocument';
import { directiveOf, isListType, isObjectNode, rowName, type Sdl } from './sdl';
import { namedType } from '../sdl/nodes';

/* What the database stores for a type, from @stored and the fields (docs/decisions/schema-decides.md). */

/** A member of a stored type, or of an object inside one. */
export interface StoredMember {
  readonly name: string;
  readonly kind: 'string' | 'number' | 'boolean' | 'dateTime' | 'object';
  /** Name of its scalar, enum or object type. */
  readonly type: string;
  /** Whether every row has it. Not of metadata and attachments, which callers see as an empty list where a row lacks them. */
  readonly isRequired: boolean;
  readonly isList: boolean;
  /** The most objects in a list, from @constraint. */
  readonly most?: number | undefined;
  readonly isSearchable: boolean;
  /** The values of an enum. */
  readonly values: readonly string[] | undefined;
  /** The pattern of a text, from @constraint. */
  readonly pattern: RegExp | undefined;
  /** From @default: what it is in a new object that leaves it out, and once it is cleared. */
  readonly otherwise: Default | undefined;
  /** Members of an object, or of each object in a list; otherwise empty. */
  readonly members: readonly StoredMember[];
}

/** The arguments of @default. */
export type Default = { readonly value: unknown } | { readonly from: 'ORGANISATION_CURRENCY' };

/** A field that leads to other stored objects, which are read by an id. */
export interface Relation {
  readonly field: FieldDefinitionNode;
  readonly type: string;
  /** Whether it lists the objects that refer to this one; otherwise it is the object that this one refers to. */
  readonly isList: boolean;
  /** The member with the id of the object referred to: in the listed objects, or in this one. */
  readonly member: string;
}

export interface StoredType {
  readonly type: string;
  readonly collection: string;
  /** The member that is unique in the organisation. */
  readonly unique: string | undefined;
  /** The member that says whose an object is, from @restricted. */
  readonly restrictedBy: string | undefined;
  /** Names of indexes that earlier versions had. */
  readonly retiredIndexes: readonly string[];
  /** The stored fields: all but relations and what is computed from the row ({@link COMPUTED_FIELDS}). */
  readonly members: readonly StoredMember[];
  readonly relations: readonly Relation[];
  /** Members that the rows of lists have only if a caller selects or includes them, since they are large (@graphql_only(on: LISTS)). */
  readonly omittedInLists: readonly string[];
}

/** The member with an object's id in the organisation's own systems, unique where it is given. */
export const EXTERNAL_REF = 'external_ref';

/** Fields that are computed from the row instead of being stored, with how (derivedFields.ts), by name. */
export const COMPUTED_FIELDS: ReadonlyMap<string, 'tag' | 'metadataValue'> = new Map([
  [ETAG, 'tag'],
  [METADATA_VALUE, 'metadataValue'],
]);

/** Types of lists that a row may lack instead of having an empty one: these members were added when there were rows. */
const MAY_LACK: readonly string[] = [PAIR, ATTACHMENT];

export type StoredTypes = ReadonlyMap<string, StoredType>;

/** How the scalars are stored: a Date as YYYY-MM-DD. */
const KINDS: Readonly<Record<string, StoredMember['kind']>> = {
  ID: 'string',
  String: 'string',
  Int: 'number',
  Float: 'number',
  Boolean: 'boolean',
  Minor: 'number',
  Date: 'string',
  DateTime: 'dateTime',
};
/** The scalars that members of stored types may have. */
export const MEMBER_SCALARS: readonly string[] = Object.keys(KINDS);

/** The arguments of @stored and of @restricted. */
type StoredDirectives = NonNullable<ReturnType<typeof directiveOf<'stored'>>> & { readonly by?: string };

/** A type that cannot be stored as its SDL says, and the field at fault. */
export class UnstorableError extends Error {
  constructor(
    readonly field: FieldDefinitionNode,
    message: string,
  ) {
    super(message);
  }
}

/** The stored types by name. @throws UnstorableError */
export function findStoredTypes(sdl: Sdl): StoredTypes {
  const stored = new Map<string, StoredDirectives>(
    sdl.document.definitions.filter(isObjectNode).flatMap((node) => {
      const directive = directiveOf(node, 'stored');
      if (!directive) return [];
      return [[node.name.value, { ...directive, ...directiveOf(node, 'restricted') }] as const];
    }),
  );

  /** The type of the stored objects that a field leads to. */
  function relatedType(field: FieldDefinitionNode): string | undefined {
    return [rowName(field) ?? '', namedType(field.type)].find((type) => stored.has(type));
  }

  /** `enclosing` are the types that the type is stored inside of, outermost first. @throws UnstorableError if the type is one of them, and so would be without end */
  function membersOf(type: string, enclosing: readonly string[] = []): StoredMember[] {
    const path = [...enclosing, type];
    return sdl
      .fieldsOf(type)
      .filter(
        (field) => relatedType(field) === undefined && !(stored.has(type) && COMPUTED_FIELDS.has(field.name.value)),
      )
      .map((field) => {
        const named = namedType(field.type);
        if (path.includes(named))
          throw new UnstorableError(field, endlessMessage(`${type}.${field.name.value}`, named, path));
        const members = membersOf(named, path);
        const values = sdl.enumValuesOf(named).map(({ name }) => name.value);
        return {
          name: field.name.value,
          // enum values are strings
          kind: members.length > 0 ? 'object' : (KINDS[named] ?? 'string'),
          type: named,
          isRequired: field.type.kind === Kind.NON_NULL_TYPE && !MAY_LACK.includes(named),
          isList: isListType(field.type),
          most: directiveOf(field, 'constraint')?.max_items,
          isSearchable: directiveOf(field, 'searchable') !== undefined,
          values: values.length > 0 ? values : undefined,
          pattern: storedPattern(field, type),
          otherwise: directiveOf(field, 'default'),
          members,
        };
      });
  }

  function relationsOf(owner: string): Relation[] {
    return sdl.fieldsOf(owner).flatMap((field) => {
      const type = relatedType(field);
      if (type === undefined) return [];
      const isList = rowName(field) === type;
      return [{ field, type, isList, member: isList ? referenceTo(owner) : `${field.name.value}_id` }];
    });
  }

  return new Map(
    [...stored].map(([type, { collection, unique, retired_indexes: retiredIndexes = [], by: restrictedBy }]) => {
      const omittedInLists = sdl.fieldsOf(type).filter((field) => omittedFrom(field) === 'LISTS');
      const members = membersOf(type);
      const relations = relationsOf(type);
      return [
        type,
        {
          type,
          collection,
          unique,
          restrictedBy,
          retiredIndexes,
          members,
          relations,
          omittedInLists: omittedInLists.map(({ name }) => name.value),
        },
      ];
    }),
  );
}

function endlessMessage(place: string, type: string, [stored = '']: readonly string[]): string {
  return `${place} leads back to ${type}, but is stored in each ${stored}, without end: remove it, or let it refer to a type with @stored`;
}

/** The pattern that a text has; undefined if the SDL gives none. @throws SyntaxError if it is not a regular expression */
export function patternOf(field: FieldDefinitionNode | null | undefined): RegExp | undefined {
  const pattern = directiveOf(field, 'constraint')?.pattern;
  return pattern === undefined ? undefined : new RegExp(pattern, 'u');
}

function storedPattern(field: FieldDefinitionNode, type: string): RegExp | undefined {
  try {
    return patternOf(field);
  } catch {
    const pattern = directiveOf(field, 'constraint')?.pattern ?? '';
    throw new UnstorableError(field, `${type}.${field.name.value} has ${notRegularExpression(pattern)}`);
  }
}

/** The end of a sentence about a pattern. */
export function notRegularExpression(pattern: string): string {
  return `@constraint(pattern: "${pattern}"), which is not a regular expression: correct it`;
}

/** The amounts that totals sum: Minor members that both the result rows and the stored type have. */
export function totalledAmounts(sdl: Sdl, field: FieldDefinitionNode, { members }: StoredType): string[] {
  const sums = new Set(sdl.rowFieldsOf(namedType(field.type))?.map(({ name }) => name.value));
  return members.filter(({ name, type }) => type === 'Minor' && sums.has(name)).map(({ name }) => name);
}

/** The member with the id by which other objects refer to an object of a type: CustomerOrder → customer_order_id. */
export function referenceTo(type: string): string {
  return `${type.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '_').toLowerCase()}_id`;
}

/** The name of objects of a type: CustomerOrder → customer_order. */
export function objectName(type: string): string {
  return referenceTo(type).replace(/_id$/, '');
}

/** The members with ids of objects of another type: the one named after it, such as `customer_id`, and those that relations follow (`buyer_id`). */
export function referencesTo(type: string, { relations, members }: StoredType): string[] {
  const followed = relations.filter((relation) => !relation.isList && relation.type === type);
  const names = new Set([referenceTo(type), ...followed.map(({ member }) => member)]);
  return members.filter((member) => member.type === 'ID' && names.has(member.name)).map(({ name }) => name);
}

/** The type of a member; undefined if there is no such member. */
export function typeOf(stored: StoredType | undefined, name: string): string | undefined {
  return stored?.members.find((member) => member.name === name)?.type;
}

/** The names of the types of a member and of those inside it. */
export function typesIn({ type, members }: Pick<StoredMember, 'type' | 'members'>): string[] {
  return [type, ...members.flatMap(typesIn)];
}

/** Members that every write of a key sets itself; operators' writes and imports may give id and created_at. */
export const SET_BY_WRITES: readonly string[] = ['id', 'created_at', 'updated_at'];

/** The member with the place of an object in its list; the gateway fills it in where objects of a list have ids. */
export const POSITION = 'position';

/** Whether a member is a list of objects with ids. */
export const hasParts = ({ isList, members }: Pick<StoredMember, 'isList' | 'members'>): boolean =>
  isList && members.some(({ name }) => name === 'id');

/** Whether the objects of a stored type have attachments. */
export const hasAttachments = (stored: Pick<StoredType, 'members'> | undefined): boolean =>
  stored?.members.some(({ type }) => type === ATTACHMENT) ?? false;

/** The type that a stored type is part of, as Message is of Request; undefined if its rows are objects of their own, which have `updated_at`. */
export function ownerOf(stored: StoredType, types: Iterable<StoredType>): StoredType | undefined {
  return ownersOf(stored, types)[0];
}

/** The types that a stored type could be part of, since it has a member with their id; the check of the schema refuses more than one (checks/types.ts). */
export function ownersOf(stored: StoredType, types: Iterable<StoredType>): StoredType[] {
  if (typeOf(stored, 'updated_at') !== undefined) return [];
  return [...types].filter(({ type }) => typeOf(stored, referenceTo(type)) !== undefined);
}
