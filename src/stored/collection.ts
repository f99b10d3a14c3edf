import { trusted } from 'mongoose';
import { type Collection, type Projection, WITHOUT_SEARCH } from '../mongo/collection';
import { settledUntil } from '../tenant/openWrites';
import type { OrganisationData } from '../tenant/organisationData';
import { notFound } from '../errors';
import { findPage, type ListArguments, type ListIdentity, type ListRequest, type Page } from '../tenant/pagination';
import type { SortKind } from '../tenant/sortKinds';
import { rowHolder } from '../operations/answers';
import type { DataContext } from '../operations/context';
import { type PageWriter, writePage, type WrittenPage } from '../fastReads/answerWriter';
import { normalised, isCallerKey } from '../schema/callerKeys';
import { type Filter, ID, SPANS } from '../schema/filters';
import { MAY_BE_EMPTY } from '../schema/jsonSchema';
import { filteredPair } from '../schema/metadata';
import { published } from '../schema/model';
import type { StoredType } from '../schema/storedTypes';
import type { Resource, Row } from './resource';
import { emailConditions, searchConditions } from './search';

/* Lists and reads of all resources. */

/** The part of a request's context that reads rows. */
export type RowReader = Pick<DataContext, 'data' | 'holdRows' | 'isGone' | 'noteInvalid'>;

/** The part of a resource that its lists need. */
export type Listed<T extends Row = Row> = Collection<T> & Pick<Resource, 'stored'>;

/** A page of rows. `filters` are by default those of the resource's list, the root field with the name of its collection. */
export function listPage<T extends Row>(
  reader: RowReader,
  collection: Listed<T>,
  args: ListArguments & Readonly<Record<string, unknown>>,
  projection: Projection = WITHOUT_SEARCH,
  filters?: readonly Filter[],
): Promise<Page<T>> {
  const { data } = reader;
  const page = pageRequest(data, collection, args, projection, filters);
  return data.pages(() => findPage(data.collection(collection), page, data.reading(rowHolder(reader))));
}

/** The same page as JSON text. @throws UnsupportedValue if it cannot be written from the bytes of its rows; {@link listPage} can read it then */
export function listPageText<T extends Row>(
  data: OrganisationData,
  collection: Listed<T>,
  args: ListArguments & Readonly<Record<string, unknown>>,
  projection: Projection,
  writer: PageWriter,
): Promise<WrittenPage> {
  const page = pageRequest(data, collection, args, projection);
  return data.reads(() =>
    writePage(data.collection(collection), page, writer, {
      reading: data.reading(),
      yieldTurn: () => data.yieldTurn(),
    }),
  );
}

function pageRequest<T extends Row>(
  data: OrganisationData,
  collection: Listed<T>,
  args: ListArguments & Readonly<Record<string, unknown>>,
  projection: Projection,
  filters = published.filtersOf(collection.name),
): ListRequest {
  const request = listRequest(data, collection, args, filters);
  const activeFilters = request.filters;
  const isSyncing = asksForChanges(collection, args, filters);
  // by which `import` decides whether rows may keep older times of change, which such a caller would miss
  if (isSyncing) data.noteFollowed();
  return {
    ...request,
    conditions: toConditions(activeFilters, filters),
    ...(isSyncing && { settledUntil: () => settledUntil(data) }),
    projection,
  };
}

export function listRequest<T extends Row>(
  data: OrganisationData,
  collection: Listed<T>,
  args: ListArguments & Readonly<Record<string, unknown>>,
  filters: readonly Filter[],
): Omit<ListIdentity, 'filters'> & { readonly filters: ActiveFilters } {
  return {
    organisationId: data.organisationId,
    operation: collection.name,
    args,
    unique: collection.stored.unique,
    kindOf: (member) => sortKindOf(collection.stored, member),
    filters: activeFilters(args, filters),
  };
}

function sortKindOf({ members }: StoredType, name: string): SortKind {
  const kind = members.find((member) => member.name === name)?.kind;
  // no list is sorted by objects (schema/checks/lists.ts)
  return kind === undefined || kind === 'object' ? 'string' : kind;
}

/** An object by id. @throws AppError not_found for the `name`, the same for another organisation's objects as for nonexistent ones */
export async function readOne<T extends { _id: string }>(
  data: OrganisationData,
  collection: Collection<T>,
  id: string,
  name: string,
  projection: Projection = WITHOUT_SEARCH,
): Promise<T> {
  const row = await data.objects.read(collection, id, projection);
  if (!row) throw notFound(name);
  return row;
}

/*
 * Filters of lists, from @filter (docs/decisions/schema-decides.md). Null means no filter, and so does an empty `q`; other
 * empty values are rejected earlier.
 */

type FilterValue = string | number | boolean | readonly string[];

/** Normalised values by argument name. */
type ActiveFilters = Readonly<Record<string, FilterValue>>;

/** The filters in force, without nulls and with normalised values, for the conditions and the cursor's fingerprint. */
export function activeFilters(args: Readonly<Record<string, unknown>>, filters: readonly Filter[]): ActiveFilters {
  const values: Record<string, FilterValue> = {};
  for (const filter of filters) {
    const { argument } = filter;
    const value = args[argument] as FilterValue | null | undefined;
    if (value === null || value === undefined || (argument === MAY_BE_EMPTY && value === '')) continue;
    values[argument] = isList(value)
      ? [...new Set(value.map((item) => filterValue(filter, item)))].sort()
      : filterValue(filter, value);
  }
  return values;
}

/** Normalises a value the way stored values are: ids in lower case, keys in NFC. */
function filterValue<T extends string | number | boolean>({ member, type }: Filter, value: T): T | string {
  if (typeof value !== 'string') return value;
  if (type === 'ID') return value.toLowerCase();
  return isCallerKey(member) ? normalised(value) : value;
}

function isList(value: FilterValue): value is readonly string[] {
  return Array.isArray(value);
}

/** MongoDB conditions for the filters in force. Undefined if nothing can match, such as for a search without words. */
export function toConditions(
  activeFilters: ActiveFilters,
  filters: readonly Filter[],
): Record<string, unknown>[] | undefined {
  const conditions: Record<string, unknown>[] = [];
  // both ends of a period are in one condition: with two, a server may use only one end to bound its index scan
  const spans = new Map<string, object>();
  for (const { argument, member, members, by, type } of filters) {
    const value = activeFilters[argument];
    if (value === undefined) continue;
    if (by === 'WORDS') {
      const words = searchConditions(String(value), argument);
      if (words.length === 0) return undefined;
      conditions.push(...words);
    } else if (by === 'EMAIL') {
      const emailFilters = emailConditions(String(value), members);
      if (emailFilters.length === 0) return undefined;
      conditions.push(...emailFilters);
    } else if (by === 'METADATA') {
      const texts = isList(value) ? value : [String(value)];
      conditions.push(...texts.map((text) => ({ [member]: trusted({ $elemMatch: filteredPair(text) }) })));
    } else if (by === 'EQUALS') {
      const values = isList(value) ? value : [value];
      const name = member === ID ? '_id' : member;
      conditions.push({ [name]: values.length === 1 ? values[0] : trusted({ $in: values }) });
    } else {
      // days are stored as strings
      const end = type === 'DateTime' ? new Date(String(value)) : value;
      spans.set(member, { ...spans.get(member), [SPANS[by].operator]: end });
    }
  }
  return [...conditions, ...[...spans].map(([member, span]) => ({ [member]: trusted(span) }))];
}

/** Whether a filter selects changed rows, which means that the caller is syncing a copy. */
export function asksForChanges(
  { name }: Pick<Collection, 'name'>,
  args: Readonly<Record<string, unknown>>,
  filters = published.filtersOf(name),
): boolean {
  return filters.some(({ argument, member, by }) => {
    return member === 'updated_at' && by === 'SINCE' && args[argument] !== undefined && args[argument] !== null;
  });
}
