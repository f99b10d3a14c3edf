import type { DocumentNode } from 'graphql';
import { filterOf } from './filters';
import { allFieldNodes, directiveOf, rootFieldNodes } from './sdl';
import { type CheckedResource, sentences } from './sentences';
import { type Relation, type StoredMember, type StoredType, storedTypes, totalledAmounts } from './stored';

/* Finds stored types, relations, searches and totals that would not do what the schema says. */

type Types = ReadonlyMap<string, StoredType>;
type Resources = ReadonlyMap<string, CheckedResource>;

/** Index members that are not in any type. */
const OWN_MEMBERS = ['_id', 'search'];

/** One message per gap, with what to change where. */
export function storedGaps(document: DocumentNode, defined: readonly CheckedResource[]): string[] {
  const types = storedTypes(document);
  const resources: Resources = new Map(defined.map((resource) => [resource.name, resource]));
  const owners = new Map<string, string>();
  const gaps = [...types.values()].flatMap((stored) => {
    const { type, collection, relations } = stored;
    const resource = resources.get(collection);
    const other = owners.get(collection);
    owners.set(collection, type);
    return [
      ...sentences(
        other !== undefined && `${type} has the same collection as ${other}: use another in @stored`,
        !resource &&
          `${type} is @stored, but no resource has the collection ${collection}: define one and add it to src/resources/index.ts`,
      ),
      ...(resource ? indexGaps(stored, resource) : []),
      ...shapeGaps(stored),
      ...relations.flatMap((relation) => {
        const found = relation.isList ? childGaps(relation, types, resources) : referenceGaps(relation, stored);
        return found.map((gap) => `${type}.${relation.field.name.value} ${gap}`);
      }),
      ...searchGaps(document, stored),
    ];
  });
  return [...gaps, ...strayGaps(document, types), ...totalsGaps(document, types, resources)];
}

/** The type of a member; undefined if there is no such member. */
function typeOf(stored: StoredType | undefined, name: string): string | undefined {
  return stored?.members.find((member) => member.name === name)?.type;
}

function shapeGaps(stored: StoredType): string[] {
  const { type, unique, members } = stored;
  const has = (name: string, wanted: string): boolean =>
    members.some((member) => member.name === name && member.type === wanted && member.isRequired);
  return sentences(
    !has('id', 'ID') && `${type} is @stored but has no id: add id: ID!`,
    !has('created_at', 'DateTime') &&
      `${type} is @stored but has no created_at, which lists are sorted by: add created_at: DateTime!`,
    unique !== undefined &&
      typeOf(stored, unique) === undefined &&
      `${type} has @stored(unique: "${unique}"), but no member ${unique}`,
  );
}

function indexGaps(stored: StoredType, { name, indexes }: CheckedResource): string[] {
  const { type, unique } = stored;
  const unknown = indexes
    .flatMap(({ on }) => Object.keys(on))
    .filter((member) => !OWN_MEMBERS.includes(member) && typeOf(stored, member) === undefined);
  const isHeld = indexes.some(({ on, options }) => options?.unique === true && Object.keys(on).join() === unique);
  return sentences(
    ...[...new Set(unknown)].map((member) => `an index of ${name} contains ${member}, but ${type} has no such member`),
    unique !== undefined &&
      !isHeld &&
      `${type} has @stored(unique: "${unique}"), but no unique index: add { on: { ${unique}: 1 }, options: { unique: true } } to ${name}`,
  );
}

/** Gaps of a field that lists the objects that refer to this one. */
function childGaps({ field, type, member }: Relation, types: Types, resources: Resources): string[] {
  const listed = types.get(type);
  const collection = listed?.collection ?? '';
  const isIndexed = resources.get(collection)?.indexes.some(({ on }) => Object.keys(on)[0] === member) ?? false;
  const others = (field.arguments ?? []).filter(({ name: { value } }) => value !== 'limit' && value !== 'cursor');
  const isReferring = typeOf(listed, member) === 'ID';
  return sentences(
    ...others.map((argument) => `takes ${argument.name.value}: a nested list takes only limit and cursor`),
    !directiveOf(field, 'graphql_only') && 'is a list: add @graphql_only, since REST has no nested lists',
    !isReferring && `is a list of ${type}, which has no member ${member} of type ID`,
    isReferring && !isIndexed && `is a list of ${type}, but no index of ${collection} begins with ${member}`,
  );
}

/** Gaps of a field that is the object a member refers to. */
function referenceGaps({ field, type, member }: Relation, stored: StoredType): string[] {
  return sentences(
    typeOf(stored, member) !== 'ID' && `is a ${type}, but no member ${member} of type ID refers to it`,
    !directiveOf(field, 'graphql_only') &&
      'refers to another object: add @graphql_only, since REST returns only the id',
  );
}

function searchGaps(document: DocumentNode, { type, collection, members }: StoredType): string[] {
  const list = rootFieldNodes(document).find(({ field }) => field.name.value === collection);
  const search = list?.field.arguments?.find((argument) => filterOf(argument)?.by === 'WORDS');
  const searchable = searchableMembers(members);
  return sentences(
    search &&
      searchable.length === 0 &&
      `Query.${collection}(${search.name.value}:) searches, but no member of ${type} is @searchable`,
    ...searchable.map(
      (member) =>
        member.type !== 'String' && `${type}.${member.name} is @searchable but ${member.type}: only strings can be`,
    ),
    !search &&
      searchable.length > 0 &&
      `${type} has members that are @searchable, but no argument of Query.${collection} has @filter(by: WORDS)`,
  );
}

function searchableMembers(members: readonly StoredMember[]): StoredMember[] {
  return members.flatMap((member) => [...(member.isSearchable ? [member] : []), ...searchableMembers(member.members)]);
}

/** Finds @searchable on types that are not stored. */
function strayGaps(document: DocumentNode, types: Types): string[] {
  const typesIn = ({ type, members }: Pick<StoredMember, 'type' | 'members'>): string[] => [
    type,
    ...members.flatMap(typesIn),
  ];
  const kept = new Set([...types.values()].flatMap(typesIn));
  return allFieldNodes(document)
    .filter(({ type, field }) => directiveOf(field, 'searchable') && !kept.has(type))
    .map(({ type, field }) => `${type}.${field.name.value} is @searchable, but no stored type contains a ${type}`);
}

/** Members that totals are grouped by. */
const GROUPS = ['currency', 'status', 'customer_id'];

function totalsGaps(document: DocumentNode, types: Types, resources: Resources): string[] {
  return rootFieldNodes(document).flatMap(({ kind, field }) => {
    const totals = directiveOf(field, 'totals');
    if (!totals) return [];
    const { of, at } = totals;
    const place = `${kind}.${field.name.value}`;
    const stored = types.get(of);
    if (!stored) return [`${place} has @totals(of: "${of}"), but no type ${of} is @stored`];
    const amounts = totalledAmounts(document, field, stored);
    const read = [...GROUPS, ...amounts];
    const missing = read.filter((member) => typeOf(stored, member) === undefined);
    const isIndexed = resources.get(stored.collection)?.indexes.some(({ on }) => {
      const [first, ...others] = Object.keys(on);
      return first === at && read.every((member) => others.includes(member));
    });
    return sentences(
      ...missing.map((member) => `groups by ${member}, but ${of} has no such member`),
      typeOf(stored, at) !== 'DateTime' && `has @totals(at: "${at}"), but ${of} has no such DateTime`,
      amounts.length === 0 && `sums nothing: its rows need Minor members that ${of} has`,
      isIndexed === false &&
        `needs an index of ${stored.collection} that begins with ${at} and covers ${read.join(', ')}`,
    ).map((gap) => `${place} ${gap}`);
  });
}
