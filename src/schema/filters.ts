import type { DocumentNode, InputValueDefinitionNode } from 'graphql';
import { directiveOf, enumArgument, loadDocument, optionalStringArgument, rootFieldNodes } from './sdl';

/* The filters of lists, from @filter (docs/decisions/schema-decides.md). */

export type FilterBy = 'EQUALS' | 'SINCE' | 'BEFORE' | 'WORDS';

export interface Filter {
  /** Name of the argument. */
  readonly argument: string;
  /** The member of a row to compare. */
  readonly member: string;
  readonly by: FilterBy;
}

/** The member for full-text search, in every searchable collection but in no type. */
const SEARCH_MEMBER = 'search';

/** Filters by list name. */
function findFilters(document: DocumentNode): ReadonlyMap<string, readonly Filter[]> {
  return new Map(
    rootFieldNodes(document).map(({ field }) => [
      field.name.value,
      (field.arguments ?? []).flatMap((argument) => filterOf(argument) ?? []),
    ]),
  );
}

let published: ReadonlyMap<string, readonly Filter[]> | undefined;

/** The filters of a list in the published schema. */
export function filtersOf(operation: string): readonly Filter[] {
  published ??= findFilters(loadDocument());
  return published.get(operation) ?? [];
}

export function filterOf(argument: InputValueDefinitionNode): Filter | undefined {
  const directive = directiveOf(argument, 'filter');
  if (!directive) return undefined;
  const by = (enumArgument(directive, 'by') ?? 'EQUALS') as FilterBy;
  const name = argument.name.value;
  return {
    argument: name,
    member: by === 'WORDS' ? SEARCH_MEMBER : (optionalStringArgument(directive, 'member') ?? name),
    by,
  };
}
