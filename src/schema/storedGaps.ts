import type { DocumentNode, FieldDefinitionNode } from 'graphql';
import { filterOf } from './filters';
import { allFieldNodes, directiveOf, rootFieldNodes, rowName, stringArgument } from './sdl';
import {
  fieldsOf,
  namedType,
  referenceTo,
  type StoredMember,
  type StoredType,
  storedTypes,
  totalledAmounts,
} from './stored';

/* Finds stored types, relations, searches and totals that would not do what the schema says. */

/** A resource of the server, to check the SDL against. */
export interface CheckedResource {
  /** Name of its collection, and of the root field that lists it. */
  readonly name: string;
  readonly indexes: readonly { readonly on: object; readonly options?: { readonly unique?: unknown } }[];
}

const RESOURCES = 'src/resources/index.ts';
/** Index members that are not in any type. */
const OWN_MEMBERS = ['_id', 'search'];

/** One message per gap, with what to change where. */
export function storedGaps(document: DocumentNode, resources: readonly CheckedResource[]): string[] {
  const types = storedTypes(document);
  const defined = new Map(resources.map((resource) => [resource.name, resource]));
  const collections = new Map<string, string>();
  const gaps = [...types.values()].flatMap((stored) => {
    const resource = defined.get(stored.collection);
    const other = collections.get(stored.collection);
    collections.set(stored.collection, stored.type);
    return [
      ...(other === undefined ? [] : [`${stored.type} has the same collection as ${other}: use another in @stored`]),
      ...(resource
        ? indexGaps(stored, resource)
        : [
            `${stored.type} is @stored, but no resource has the collection ${stored.collection}: define one and add it to ${RESOURCES}`,
          ]),
      ...shapeGaps(stored),
      ...relationGaps(document, stored, types, defined),
      ...searchGaps(document, stored),
    ];
  });
  return [...gaps, ...strayGaps(document, types), ...totalsGaps(document, types, defined)];
}

function memberOf({ members }: StoredType, name: string): StoredMember | undefined {
  return members.find((member) => member.name === name);
}

function shapeGaps(stored: StoredType): string[] {
  const { type, unique } = stored;
  const gaps: string[] = [];
  const id = memberOf(stored, 'id');
  if (id?.type !== 'ID' || !id.isRequired) gaps.push(`${type} is @stored but has no id: add id: ID!`);
  const created = memberOf(stored, 'created_at');
  if (created?.type !== 'DateTime' || !created.isRequired)
    gaps.push(`${type} is @stored but has no created_at, which lists are sorted by: add created_at: DateTime!`);
  if (unique !== undefined && !memberOf(stored, unique))
    gaps.push(`${type} has @stored(unique: "${unique}"), but no member ${unique}`);
  return gaps;
}

function indexGaps(stored: StoredType, { name, indexes }: CheckedResource): string[] {
  const { type, unique } = stored;
  const unknown = indexes
    .flatMap(({ on }) => Object.keys(on))
    .filter((member) => !OWN_MEMBERS.includes(member) && !memberOf(stored, member));
  const gaps = [...new Set(unknown)].map(
    (member) => `an index of ${name} contains ${member}, but ${type} has no such member`,
  );
  const isHeld = indexes.some(({ on, options }) => options?.unique === true && Object.keys(on).join() === unique);
  if (unique !== undefined && !isHeld) {
    gaps.push(
      `${type} has @stored(unique: "${unique}"), but no unique index: add { on: { ${unique}: 1 }, options: { unique: true } } to ${name}`,
    );
  }
  return gaps;
}

type Types = ReadonlyMap<string, StoredType>;
type Defined = ReadonlyMap<string, CheckedResource>;

function relationGaps(document: DocumentNode, stored: StoredType, types: Types, defined: Defined): string[] {
  return fieldsOf(document, stored.type).flatMap((field) => {
    const place = `${stored.type}.${field.name.value}`;
    const listed = types.get(rowName(field) ?? '');
    const gaps = listed
      ? childGaps(stored, listed, field, defined)
      : referenceGaps(stored, types.get(namedType(field.type)), field);
    return gaps.map((gap) => `${place} ${gap}`);
  });
}

/** Gaps of a field that lists the objects that refer to this one. */
function childGaps(stored: StoredType, listed: StoredType, field: FieldDefinitionNode, defined: Defined): string[] {
  const member = referenceTo(stored.type);
  const gaps = (field.arguments ?? [])
    .filter(({ name }) => !['limit', 'cursor'].includes(name.value))
    .map(({ name }) => `takes ${name.value}: a nested list takes only limit and cursor`);
  if (!directiveOf(field, 'graphql_only')) gaps.push('is a list: add @graphql_only, since REST has no nested lists');
  if (memberOf(listed, member)?.type !== 'ID')
    gaps.push(`is a list of ${listed.type}, which has no member ${member} of type ID`);
  else if (!defined.get(listed.collection)?.indexes.some(({ on }) => Object.keys(on)[0] === member))
    gaps.push(`is a list of ${listed.type}, but no index of ${listed.collection} begins with ${member}`);
  return gaps;
}

/** Gaps of a field that is the object a member refers to. */
function referenceGaps(stored: StoredType, named: StoredType | undefined, field: FieldDefinitionNode): string[] {
  if (!named) return [];
  const member = `${field.name.value}_id`;
  const gaps =
    memberOf(stored, member)?.type === 'ID'
      ? []
      : [`is a ${named.type}, but no member ${member} of type ID refers to it`];
  if (!directiveOf(field, 'graphql_only'))
    gaps.push('refers to another object: add @graphql_only, since REST returns only the id');
  return gaps;
}

function searchGaps(document: DocumentNode, stored: StoredType): string[] {
  const list = rootFieldNodes(document).find(({ field }) => field.name.value === stored.collection);
  const search = (list?.field.arguments ?? []).find((argument) => isSearch(argument));
  const searchable = searchableMembers(stored.members);
  const notTexts = searchable
    .filter(({ type }) => type !== 'String')
    .map(({ name, type }) => `${stored.type}.${name} is @searchable but ${type}: only strings can be`);
  if (search && searchable.length === 0)
    return [
      `Query.${stored.collection}(${search.name.value}:) searches, but no member of ${stored.type} is @searchable`,
    ];
  if (!search && searchable.length > 0)
    return [
      ...notTexts,
      `${stored.type} has members that are @searchable, but no argument of Query.${stored.collection} has @filter(by: WORDS)`,
    ];
  return notTexts;
}

function isSearch(argument: NonNullable<FieldDefinitionNode['arguments']>[number]): boolean {
  return filterOf(argument)?.by === 'WORDS';
}

function searchableMembers(members: readonly StoredMember[]): StoredMember[] {
  return members.flatMap((member) => [...(member.isSearchable ? [member] : []), ...searchableMembers(member.members)]);
}

/** Finds @searchable on types that are not stored. */
function strayGaps(document: DocumentNode, types: Types): string[] {
  const kept = new Set<string>();
  const note = ({ type, members }: Pick<StoredMember, 'type' | 'members'>): void => {
    kept.add(type);
    members.forEach(note);
  };
  types.forEach(note);
  return allFieldNodes(document).flatMap(({ type, field }) =>
    directiveOf(field, 'searchable') && !kept.has(type)
      ? [`${type}.${field.name.value} is @searchable, but no stored type contains a ${type}`]
      : [],
  );
}

/** Members that totals are grouped by. */
const GROUPS = ['currency', 'status', 'customer_id'];

function totalsGaps(document: DocumentNode, types: Types, defined: Defined): string[] {
  return rootFieldNodes(document).flatMap(({ kind, field }) => {
    const directive = directiveOf(field, 'totals');
    if (!directive) return [];
    const place = `${kind}.${field.name.value}`;
    const [of, at] = [stringArgument(directive, 'of'), stringArgument(directive, 'at')];
    const stored = types.get(of);
    if (!stored) return [`${place} has @totals(of: "${of}"), but no type ${of} is @stored`];
    const amounts = totalledAmounts(document, field, stored);
    const read = [...GROUPS, ...amounts];
    const missing = read.filter((member) => !memberOf(stored, member));
    const gaps = missing.map((member) => `groups by ${member}, but ${of} has no such member`);
    if (memberOf(stored, at)?.type !== 'DateTime')
      gaps.push(`has @totals(at: "${at}"), but ${of} has no such DateTime`);
    if (amounts.length === 0) gaps.push(`sums nothing: its rows need Minor members that ${of} has`);
    const isIndexed = defined.get(stored.collection)?.indexes.some(({ on }) => {
      const [first, ...others] = Object.keys(on);
      return first === at && read.every((member) => others.includes(member));
    });
    if (isIndexed === false)
      gaps.push(`needs an index of ${stored.collection} that begins with ${at} and covers ${read.join(', ')}`);
    return gaps.map((gap) => `${place} ${gap}`);
  });
}
