import { trusted } from 'mongoose';
import { MAY_BE_EMPTY } from '../schema/jsonSchema';
import { searchConditions } from './search';
import { type Filter, SPANS } from '../schema/filters';
import { comparable, isCompared } from '../schema/callerKeys';

/*
 * Filters of lists, from @filter (docs/decisions/schema-decides.md). Null means no filter, and so does an empty `q`; other
 * empty values are rejected earlier.
 */

type Given = string | number | boolean | readonly string[];

/** Normalised values by argument name. */
export type FiltersInForce = Readonly<Record<string, Given>>;

/** The filters in force, without nulls and with normalised values, for the conditions and the cursor's fingerprint. */
export function filtersInForce(args: Readonly<Record<string, unknown>>, filters: readonly Filter[]): FiltersInForce {
  const given: Record<string, Given> = {};
  for (const filter of filters) {
    const { argument } = filter;
    const value = args[argument] as Given | null | undefined;
    if (value === null || value === undefined || (argument === MAY_BE_EMPTY && value === '')) continue;
    given[argument] = isList(value)
      ? [...new Set(value.map((item) => asKept(filter, item)))].sort()
      : asKept(filter, value);
  }
  return given;
}

/** Normalises a value as it is stored: ids in lower case, keys in NFC. */
function asKept<T extends string | number | boolean>({ member, type }: Filter, value: T): T | string {
  if (typeof value !== 'string') return value;
  if (type === 'ID') return value.toLowerCase();
  return isCompared(member) ? comparable(value) : value;
}

function isList(value: Given): value is readonly string[] {
  return Array.isArray(value);
}

/** MongoDB conditions for the filters in force. Undefined if nothing can match, as for a search without words. */
export function toConditions(given: FiltersInForce, filters: readonly Filter[]): Record<string, unknown>[] | undefined {
  const conditions: Record<string, unknown>[] = [];
  // both ends of a period in one condition, since with two a server may scan the index from one end only
  const spans = new Map<string, object>();
  for (const { argument, member, by, type } of filters) {
    const value = given[argument];
    if (value === undefined) continue;
    if (by === 'WORDS') {
      const words = searchConditions(String(value), argument);
      if (words.length === 0) return undefined;
      conditions.push(...words);
    } else if (by === 'EQUALS') {
      const values = isList(value) ? value : [value];
      conditions.push({ [member]: values.length === 1 ? values[0] : trusted({ $in: values }) });
    } else {
      // days are stored as texts
      const end = type === 'DateTime' ? new Date(String(value)) : value;
      spans.set(member, { ...spans.get(member), [SPANS[by].operator]: end });
    }
  }
  return [...conditions, ...[...spans].map(([member, span]) => ({ [member]: trusted(span) }))];
}

/** Whether a filter selects changed rows, which means the caller syncs a copy with it. */
export function asksForChanges(given: FiltersInForce, filters: readonly Filter[]): boolean {
  return filters.some(({ argument, member, by }) => member === 'updated_at' && by === 'SINCE' && argument in given);
}
