import type { Collection, Projection } from '../database/collection';
import { settledUntil } from '../database/openWrites';
import type { OrganisationData } from '../database/organisationData';
import { notFound } from '../errors';
import { findPage, type ListArguments, type ListRequest, type Page } from '../pagination';
import { filtersInForce, toConditions } from './list';

/* What lists and reads of every resource share. */

export interface ListSpec<T extends { readonly _id: string }> {
  readonly collection: Collection<T>;
  /** Name of the root field. */
  readonly operation: string;
  readonly filters: readonly string[];
}

/** Rows of a list never carry the search words, and lines only where they were asked for. */
export const WITHOUT_SEARCH = { search: 0 } as const;
export const WITHOUT_LINES = { search: 0, lines: 0 } as const;

export interface WithLines {
  /** Whether the rows' lines are wanted. */
  readonly lines: boolean;
}

/** One page of a resource. */
export function listPage<T extends { _id: string }>(
  data: OrganisationData,
  spec: ListSpec<T>,
  args: ListArguments & Readonly<Record<string, unknown>>,
  projection: Projection = WITHOUT_SEARCH,
): Promise<Page<T>> {
  const request = listRequest(data, spec, args);
  const page: ListRequest = {
    ...request,
    conditions: toConditions(request.filters as Parameters<typeof toConditions>[0]),
    ...('updated_since' in request.filters && { settledUntil: () => settledUntil(data) }),
    projection,
  };
  return data.reads(() => findPage(data.collection(spec.collection), page));
}

/** What a list is bound to, for its cursor. */
export function listRequest<T extends { readonly _id: string }>(
  data: OrganisationData,
  spec: ListSpec<T>,
  args: ListArguments & Readonly<Record<string, unknown>>,
): Omit<ListRequest, 'conditions'> {
  return {
    organisationId: data.organisationId,
    operation: spec.operation,
    args,
    filters: filtersInForce(args, spec.filters),
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
