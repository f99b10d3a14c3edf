import type { Collection, Projection } from '../../database/collection';
import { settledUntil } from '../../database/openWrites';
import type { OrganisationData } from '../../database/organisationData';
import { notFound } from '../../errors';
import { findPage, type ListArguments, type ListRequest, type Page } from '../../database/pagination';
import { filtersOf } from '../../schema/filters';
import { asksForChanges, type FiltersInForce, filtersInForce, toConditions } from './filters';

/* What lists and reads of every resource share. */

/** Rows of a list never carry the search words, and lines only where they were asked for. */
export const WITHOUT_SEARCH = { search: 0 } as const;
export const WITHOUT_LINES = { search: 0, lines: 0 } as const;

export interface WithLines {
  /** Whether the rows' lines are wanted. */
  readonly lines: boolean;
}

/** One page of a resource; its root field is named as its collection. */
export function listPage<T extends { _id: string }>(
  data: OrganisationData,
  collection: Collection<T>,
  args: ListArguments & Readonly<Record<string, unknown>>,
  projection: Projection = WITHOUT_SEARCH,
): Promise<Page<T>> {
  const filters = filtersOf(collection.name);
  const request = listRequest(data, collection, args);
  const given = request.filters;
  const page: ListRequest = {
    ...request,
    conditions: toConditions(given, filters),
    ...(asksForChanges(given, filters) && { settledUntil: () => settledUntil(data) }),
    projection,
  };
  return data.reads(() => findPage(data.collection(collection), page));
}

/** What a list is bound to, for its cursor. */
export function listRequest<T extends { readonly _id: string }>(
  data: OrganisationData,
  collection: Collection<T>,
  args: ListArguments & Readonly<Record<string, unknown>>,
): Omit<ListRequest, 'conditions' | 'filters'> & { readonly filters: FiltersInForce } {
  return {
    organisationId: data.organisationId,
    operation: collection.name,
    args,
    filters: filtersInForce(args, filtersOf(collection.name)),
  };
}

/** One object by id. @throws AppError not_found, in the same words for the foreign and the nonexistent. */
export async function readOne<T extends { _id: string }>(
  data: OrganisationData,
  collection: Collection<T>,
  id: string,
  resource: string,
  projection: Projection = WITHOUT_SEARCH,
): Promise<T> {
  const found = await data.read(collection, id, projection);
  if (!found) throw notFound(resource);
  return found;
}
