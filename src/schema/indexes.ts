import type { FieldDefinitionNode } from 'graphql';
import { filterOf, ID, isSpan, SEARCH_MEMBER } from './filters';
import { METADATA } from './metadata';
import { PERSON, referringMembers } from './personal';
import { directiveOf, isObjectNode, type Sdl } from './sdl';
import {
  EXTERNAL_REF,
  ownerOf,
  referenceTo,
  type StoredMember,
  type StoredType,
  totalledAmounts,
  type StoredTypes,
} from './storedTypes';

/* The indexes of a stored type, from what reads it (docs/decisions/own-schema.md). */

/** An index in the form of mongo/collection.ts. */
export interface DerivedIndex {
  /** The columns in their order, with their direction. */
  readonly on: Readonly<Record<string, 1 | -1>>;
  readonly options?: { readonly name?: string; readonly unique?: true; readonly partialFilterExpression?: object };
}

/** Members that totals are grouped by. */
export const GROUPS = ['currency', 'status', 'customer_id'];

/** What lists are sorted by unless a caller says otherwise: newest first. */
const NEWEST = { created_at: -1, _id: -1 } as const;

/** An index that reads need, unless there is another that serves them as well. */
interface Need {
  readonly index: DerivedIndex;
  readonly isMetBy: (other: DerivedIndex) => boolean;
}

const firstColumn = ({ on }: DerivedIndex): string => Object.keys(on)[0] ?? '';
const isUniqueOn = ({ on, options }: DerivedIndex, member: string): boolean =>
  options?.unique === true && Object.keys(on).join() === member;

/** Whether the first columns of an index have these names and one direction: an index is read forwards and backwards. */
function isInOrder(
  columns: readonly (readonly [name: string, direction: 1 | -1])[],
  names: readonly string[],
): boolean {
  return names.every((name, at) => columns[at]?.[0] === name && columns[at][1] === columns[0]?.[1]);
}

/** The indexes of a type's collection: those that enforce a rule, those of @index, then what else its reads need. */
export function indexesOf(sdl: Sdl, types: StoredTypes, stored: StoredType): DerivedIndex[] {
  const indexes = [...uniqueIndexes(stored), ...declaredIndexes(sdl, stored)];
  for (const { index, isMetBy } of needsOf(sdl, types, stored)) if (!indexes.some(isMetBy)) indexes.push(index);
  return indexes;
}

function uniqueIndexes({ unique, members }: StoredType): DerivedIndex[] {
  const hasRef = unique !== EXTERNAL_REF && members.some(({ name }) => name === EXTERNAL_REF);
  return [
    ...(unique === undefined ? [] : [{ on: { [unique]: 1 }, options: { unique: true } } as const]),
    ...(hasRef ? [UNIQUE_REF] : []),
  ];
}

/** Makes the external_ref unique among the rows that have one. */
const UNIQUE_REF: DerivedIndex = {
  on: { [EXTERNAL_REF]: 1 },
  options: { unique: true, partialFilterExpression: { [EXTERNAL_REF]: { $gt: '' } } },
};

function declaredIndexes(sdl: Sdl, { type }: StoredType): DerivedIndex[] {
  return indexDirectivesOf(sdl, type).map(({ on, name }) => {
    const members = on.map((member) => [columnOf(member), member.startsWith('-') ? -1 : 1] as const);
    return { on: Object.fromEntries(members), ...(name !== undefined && { options: { name } }) };
  });
}

/** The @index of a type and its extensions. */
export function indexDirectivesOf({ document }: Sdl, type: string) {
  const nodes = document.definitions.filter(isObjectNode).filter(({ name }) => name.value === type);
  return nodes
    .flatMap(({ directives = [] }) => directives.filter(({ name }) => name.value === 'index'))
    .map((node) => {
      const { on = [], name } = directiveOf({ directives: [node] }, 'index') ?? {};
      return { node, on, name };
    });
}

/** The database's name of a member as @index names it: without `-` for descending order, and `_id` for `id`. */
export function columnOf(member: string): string {
  const name = member.replace(/^-/, '');
  return name === ID ? '_id' : name;
}

function needsOf(sdl: Sdl, types: StoredTypes, stored: StoredType): Need[] {
  const list = sdl.rootField(stored.collection);
  const filters = (list?.arguments ?? []).flatMap((argument) => filterOf(argument) ?? []);
  const equal = filters.filter(({ member, by }) => by === 'EQUALS' && member !== ID).map(({ member }) => member);
  const spans = filters.filter(({ by }) => isSpan(by)).map(({ member }) => member);
  const owner = ownerOf(stored, types.values());
  const isSearched = filters.some(({ by }) => by === 'WORDS' || by === 'EMAIL');
  return [
    ...totalsOf(sdl, stored),
    ...(list ? ['created_at', ...sortsOf(list)].map((member) => sorted(stored.members, member)) : []),
    ...[...equal, ...parentsOf(types, stored), ...customersOf(stored)].map(newestWith),
    ...(owner ? [ofParts(owner)] : []),
    ...spans.map((member): Need => {
      return { index: { on: { [member]: -1, _id: -1 } }, isMetBy: (other) => firstColumn(other) === member };
    }),
    ...(filters.some(({ by }) => by === 'METADATA') ? [OF_METADATA] : []),
    ...(isSearched ? [{ index: { on: { [SEARCH_MEMBER]: 1 } } as const, isMetBy: () => false }] : []),
  ];
}

/** Rows with a pair, newest first; rows without metadata are not in it. */
const OF_METADATA: Need = {
  index: {
    on: { [`${METADATA}.key`]: 1, [`${METADATA}.value`]: 1, ...NEWEST },
    options: { name: METADATA, partialFilterExpression: { [METADATA]: { $exists: true } } },
  },
  isMetBy: () => false,
};

/** The members that a list can be sorted by. */
export function sortsOf({ arguments: args = [] }: FieldDefinitionNode): string[] {
  const sorts =
    directiveOf(
      args.find(({ name }) => name.value === 'sort'),
      'constraint',
    )?.one_of ?? [];
  return [...new Set(sorts.map((sort) => sort.replace(/^-/, '')))];
}

/** Rows in the order of a member, then by id, unless no two rows have the same value. */
function sorted(members: readonly StoredMember[], member: string): Need {
  const direction = members.some(({ name, kind }) => name === member && kind === 'dateTime') ? -1 : 1;
  return {
    index: { on: { [member]: direction, _id: direction } },
    isMetBy: (other) =>
      // a partial index does not have all rows of a list
      (isUniqueOn(other, member) && !other.options?.partialFilterExpression) ||
      isInOrder(Object.entries(other.on), [member, '_id']),
  };
}

/** The parts of an object, oldest first. */
function ofParts(owner: StoredType): Need {
  return { index: { on: { [referenceTo(owner.type)]: 1, created_at: 1, _id: 1 } }, isMetBy: () => false };
}

/** Rows with one value of a member, newest first. */
function newestWith(member: string): Need {
  return {
    index: { on: { [member]: 1, ...NEWEST } },
    isMetBy: (other) =>
      // partial or not, it has the rows with a value
      isUniqueOn(other, member) ||
      (firstColumn(other) === member && isInOrder(Object.entries(other.on).slice(1), Object.keys(NEWEST))),
  };
}

/** The members by which other objects list the objects of a type: `request_id` of messages. */
function parentsOf(types: StoredTypes, { type }: StoredType): string[] {
  return [...types.values()].flatMap(({ relations }) =>
    relations.filter((relation) => relation.isList && relation.type === type).map(({ member }) => member),
  );
}

/** The members by which erasing a customer finds the customer's objects. */
function customersOf(stored: StoredType): string[] {
  return stored.type === PERSON ? [] : referringMembers(stored);
}

/** Indexes that begin with the time of totals and cover what they read; those by `created_at` are in the order of lists, too. */
function totalsOf(sdl: Sdl, stored: StoredType): Need[] {
  const read = new Map<string, Set<string>>();
  for (const { field } of sdl.roots) {
    const { of, at } = directiveOf(field, 'totals') ?? {};
    if (of !== stored.type || at === undefined) continue;
    const groups = GROUPS.filter((group) => stored.members.some(({ name }) => name === group));
    read.set(at, new Set([...(read.get(at) ?? groups), ...totalledAmounts(sdl, field, stored)]));
  }
  return [...read].map(([at, members], position) => {
    const order = at === 'created_at' ? NEWEST : { [at]: -1 as const };
    // stored indexes have these names, and MongoDB refuses the same index under another
    const name = at === 'created_at' ? 'newest_and_totals' : position === 0 ? 'totals' : `totals_${at}`;
    const on = { ...order, ...Object.fromEntries([...members].map((member) => [member, 1 as const])) };
    return {
      index: { on, options: { name } },
      isMetBy: (other) => firstColumn(other) === at && [...members].every((member) => member in other.on),
    };
  });
}
