import type { DocumentNode } from 'graphql';
import { filterOf } from '../filters';
import type { ResolverTable } from '../resolvers';
import { indexGaps } from './indexGaps';
import { memberGaps } from './memberGaps';
import { personalGaps } from './personalGaps';
import { readGaps } from './readGaps';
import { relationGaps } from './relationGaps';
import { allFieldNodes, directiveOf, rootFieldNodes } from '../sdl';
import { type CheckedResource, sentences } from './sentences';
import { type StoredMember, type StoredType, storedTypes, typeOf, type Types, typesIn } from '../storedTypes';
import { totalsGaps } from './totalsGaps';

/* Finds stored types and searches that would not do what the schema says. */

/** The gateway's own collections in an organisation's database; tests hold them equal to their definitions. */
export const OWN_COLLECTIONS: readonly string[] = [
  'idempotency_records',
  'open_writes',
  'events',
  'webhook_deliveries',
];

/** One message per gap, with what to change where. */
export function storedGaps(
  document: DocumentNode,
  defined: readonly CheckedResource[],
  resolvers: ResolverTable,
): string[] {
  const types = storedTypes(document);
  const resources = new Map(defined.map((resource) => [resource.name, resource]));
  const owners = new Map<string, string>();
  const gaps = [...types.values()].flatMap((stored) => {
    const { type, collection } = stored;
    const resource = resources.get(collection);
    const other = owners.get(collection);
    owners.set(collection, type);
    return [
      ...sentences(
        other !== undefined && `${type} has the same collection as ${other}: use another in @stored`,
        OWN_COLLECTIONS.includes(collection) &&
          `${type} has the collection ${collection}, which is the gateway's own: use another in @stored`,
        !resource &&
          `${type} is @stored, but no resource has the collection ${collection}: define one and add it to src/resources/index.ts`,
      ),
      ...(resource ? indexGaps(stored, resource) : []),
      ...shapeGaps(stored),
      ...memberGaps(document, stored, resolvers),
      ...searchGaps(document, stored),
    ];
  });
  return [
    // types inside several stored types have their gaps once
    ...new Set(gaps),
    ...repeated(defined),
    ...relationGaps(document, types, resources),
    ...strayGaps(document, types),
    ...personalGaps(document, types),
    ...readGaps(document, types),
    ...totalsGaps(document, types, resources, resolvers),
  ];
}

function repeated(defined: readonly CheckedResource[]): string[] {
  const names = defined.map(({ name }) => name);
  const twice = new Set(names.filter((name, index) => names.indexOf(name) < index));
  return [...twice].map(
    (name) => `the resource ${name} is in src/resources/index.ts more than once: remove the others`,
  );
}

function shapeGaps(stored: StoredType): string[] {
  const { type, unique, members, omittedInLists } = stored;
  const has = (name: string, wanted: string): boolean =>
    members.some((member) => member.name === name && member.type === wanted && member.isRequired);
  return sentences(
    !has('id', 'ID') && `${type} is @stored but has no id: add id: ID!`,
    !has('created_at', 'DateTime') &&
      `${type} is @stored but has no created_at, which lists are sorted by: add created_at: DateTime!`,
    omittedInLists.includes('created_at') &&
      `${type}.created_at has @graphql_only(on: LISTS), but lists are sorted by it: remove that`,
    unique !== undefined &&
      typeOf(stored, unique) === undefined &&
      `${type} has @stored(unique: "${unique}"), but no member ${unique}`,
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
  const kept = new Set([...types.keys(), ...[...types.values()].flatMap(({ members }) => members.flatMap(typesIn))]);
  return allFieldNodes(document)
    .filter(({ type, field }) => directiveOf(field, 'searchable') && !kept.has(type))
    .map(({ type, field }) => `${type}.${field.name.value} is @searchable, but no stored type contains a ${type}`);
}
