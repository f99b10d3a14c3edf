import type { InputValueDefinitionNode } from 'graphql';
import { directiveOf, type FilterBy, loadDocument, namedType, rootFieldNodes } from './sdl';

/* The filters of lists, from @filter (docs/decisions/schema-decides.md). */

export interface Filter {
  /** Name of the argument. */
  readonly argument: string;
  /** The member of a row to compare. */
  readonly member: string;
  readonly by: FilterBy;
  /** The type of its values: ids are stored in lower case, and times as the database has them. */
  readonly type: string;
}

/** The comparisons with one end of a span, and what has an order to compare. */
export const SPANS = {
  SINCE: { operator: '$gte', of: ['DateTime', 'Date'] },
  BEFORE: { operator: '$lt', of: ['DateTime', 'Date'] },
} as const satisfies Partial<Record<FilterBy, { readonly operator: string; readonly of: readonly string[] }>>;

/** The member for full-text search, in every searchable collection but in no type. */
const SEARCH_MEMBER = 'search';

let published: ReadonlyMap<string, readonly Filter[]> | undefined;

/** The filters of a list in the published schema. */
export function filtersOf(list: string): readonly Filter[] {
  published ??= new Map(
    rootFieldNodes(loadDocument()).map(({ field: { name, arguments: args = [] } }) => [
      name.value,
      args.flatMap((argument) => filterOf(argument) ?? []),
    ]),
  );
  return published.get(list) ?? [];
}

export function filterOf(argument: InputValueDefinitionNode): Filter | undefined {
  const filter = directiveOf(argument, 'filter');
  if (!filter) return undefined;
  const name = argument.name.value;
  const { by, member = name } = filter;
  const type = namedType(argument.type);
  return { argument: name, member: by === 'WORDS' ? SEARCH_MEMBER : member, by, type };
}

/** The filter of a list by its parent's id: that of the list's own argument, if it has one, so that both have the same cursors. */
export function parentFilter(filters: readonly Filter[], member: string): Filter {
  const own = filters.find((filter) => filter.member === member && filter.by === 'EQUALS');
  // no argument can have this name
  return own ?? { argument: `.${member}`, member, by: 'EQUALS', type: 'ID' };
}
