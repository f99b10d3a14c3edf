import type { InputValueDefinitionNode } from 'graphql';
import { directiveOf, type FilterBy, type Sdl } from './sdl';
import { namedType } from '../sdl/nodes';

/* The filters of lists, from @filter (docs/decisions/schema-decides.md). */

export interface Filter {
  readonly argument: string;
  /** The member of a row to compare; EMAIL compares {@link members} instead. */
  readonly member: string;
  readonly by: FilterBy;
  /** The members with email addresses, for EMAIL; otherwise empty. */
  readonly members: readonly string[];
  /** The type of its values, which are compared as stored: ids in lower case, times as dates. */
  readonly type: string;
}

export const TIME_TYPES: readonly string[] = ['DateTime', 'Date'];
/** The filters with one end of a range: MongoDB's operator, and the types that it compares. */
export const SPANS = {
  SINCE: { operator: '$gte', of: TIME_TYPES },
  BEFORE: { operator: '$lt', of: TIME_TYPES },
} as const satisfies Partial<Record<FilterBy, { readonly operator: string; readonly of: readonly string[] }>>;

/** Whether a filter compares with one end of a range. */
export function isSpan(by: FilterBy): by is keyof typeof SPANS {
  return by in SPANS;
}

/** The row's id, which the database calls `_id`. */
export const ID = 'id';

/** The member for full-text search, in every searchable collection but in no type. */
export const SEARCH_MEMBER = 'search';

/** The filters of root fields, by the name of the field. */
export function findFilters({ roots }: Sdl): ReadonlyMap<string, readonly Filter[]> {
  return new Map(
    roots.map(({ field: { name, arguments: args = [] } }) => [
      name.value,
      args.flatMap((argument) => filterOf(argument) ?? []),
    ]),
  );
}

/** The filter of an argument with @filter; otherwise undefined. */
export function filterOf(argument: InputValueDefinitionNode): Filter | undefined {
  const filter = directiveOf(argument, 'filter');
  if (!filter) return undefined;
  const name = argument.name.value;
  const { by, member = name, members = [] } = filter;
  const type = namedType(argument.type);
  return { argument: name, member: by === 'WORDS' ? SEARCH_MEMBER : member, members, by, type };
}

/** The filter of a list by its parent's id: the filter of the list's own argument, if it has one, so that cursors work for both. */
export function parentFilter(filters: readonly Filter[], member: string): Filter {
  const equalsFilter = filters.find((filter) => filter.member === member && filter.by === 'EQUALS');
  // no argument can have this name
  return equalsFilter ?? { argument: `.${member}`, member, members: [], by: 'EQUALS', type: 'ID' };
}
