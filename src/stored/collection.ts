import { type Collection, type Projection, WITHOUT_SEARCH } from '../database/collection';
import { settledUntil } from '../database/openWrites';
import type { OrganisationData } from '../database/organisationData';
import { notFound } from '../errors';
import { findPage, type ListArguments, type ListRequest, type Page } from '../database/pagination';
import { type PageWriter, writePage, type WrittenPage } from '../fastReads/answerWriter';
import { type Filter, filtersOf } from '../schema/filters';
import { asksForChanges, type FiltersInForce, filtersInForce, toConditions } from './filters';

/* Lists and reads of all resources. */

/** Rows that take some milliseconds. */
const MANY = 50;

/** A page of a resource, whose root field has the name of its collection. */
export function listPage<T extends { _id: string }>(
  data: OrganisationData,
  collection: Collection<T>,
  args: ListArguments & Readonly<Record<string, unknown>>,
  projection: Projection = WITHOUT_SEARCH,
  filters?: readonly Filter[],
): Promise<Page<T>> {
  const page = pageRequest(data, collection, args, projection, filters);
  return data.pages(async () => {
    const found = await findPage(data.collection(collection), page);
    // what follows takes about as long as decoding did
    if (found.data.length >= MANY) await data.ownTurn();
    return found;
  });
}

/** The same page as JSON text. @throws UnsupportedValue if it cannot be written from the bytes of its rows */
export function listPageText<T extends { _id: string }>(
  data: OrganisationData,
  collection: Collection<T>,
  args: ListArguments & Readonly<Record<string, unknown>>,
  projection: Projection,
  writer: PageWriter,
): Promise<WrittenPage> {
  const page = pageRequest(data, collection, args, projection);
  return data.reads(() => writePage(data.collection(collection), page, writer, () => data.ownTurn()));
}

function pageRequest<T extends { _id: string }>(
  data: OrganisationData,
  collection: Collection<T>,
  args: ListArguments & Readonly<Record<string, unknown>>,
  projection: Projection,
  filters = filtersOf(collection.name),
): ListRequest {
  const request = listRequest(data, collection, args, filters);
  const given = request.filters;
  return {
    ...request,
    conditions: toConditions(given, filters),
    ...(asksForChanges(given, filters) && { settledUntil: () => settledUntil(data) }),
    projection,
  };
}

/** What a cursor of the list is bound to. */
export function listRequest<T extends { readonly _id: string }>(
  data: OrganisationData,
  collection: Collection<T>,
  args: ListArguments & Readonly<Record<string, unknown>>,
  filters: readonly Filter[],
): Omit<ListRequest, 'conditions' | 'filters'> & { readonly filters: FiltersInForce } {
  return {
    organisationId: data.organisationId,
    operation: collection.name,
    args,
    unique: uniqueMember(collection),
    filters: filtersInForce(args, filters),
  };
}

function uniqueMember({ indexes }: Pick<Collection<{ readonly _id: string }>, 'indexes'>): string | undefined {
  const found = indexes.find(({ options }) => options?.unique === true);
  return found && Object.keys(found.on)[0];
}

/** An object by id. @throws AppError not_found, with the same message for foreign and nonexistent objects. */
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
