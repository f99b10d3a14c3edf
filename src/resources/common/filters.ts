import { trusted } from 'mongoose';
import { MAY_BE_EMPTY } from '../../schema/jsonSchema';
import { searchConditions, searchWords } from './search';
import type { Filter } from '../../schema/filters';
import { COMPARED, comparable } from '../../schema/compared';

/*
 * Filters of lists, as the arguments' @filter has them (docs/decisions/schema-decides.md). A null is as if left out, and so
 * is an empty `q`; any other that is empty was refused before it got here.
 */

type Given = string | number | boolean | readonly string[];

/** Values by the argument's name, in the spelling that is kept. */
export type FiltersInForce = Readonly<Record<string, Given>>;

/** The filters in force, for the cursor's fingerprint and the conditions: null ones left out, values in the spelling that is kept. */
export function filtersInForce(args: Readonly<Record<string, unknown>>, filters: readonly Filter[]): FiltersInForce {
  const given: Record<string, Given> = {};
  for (const { argument, member } of filters) {
    const value = args[argument] as Given | null | undefined;
    if (value === null || value === undefined || (argument === MAY_BE_EMPTY && value === '')) continue;
    given[argument] = isList(value)
      ? [...new Set(value.map((item) => asKept(member, item)))].sort()
      : asKept(member, value);
  }
  return given;
}

/** A value in the spelling that is kept: ids in small letters, keys in NFC. */
function asKept<T extends string | number | boolean>(member: string, value: T): T | string {
  if (typeof value !== 'string') return value;
  if (member.endsWith('_id')) return value.toLowerCase();
  return COMPARED.includes(member) ? comparable(value) : value;
}

function isList(value: Given): value is readonly string[] {
  return Array.isArray(value);
}

/** Filters in force as MongoDB conditions that must all hold. Undefined where nothing can match: a search that holds no word. */
export function toConditions(given: FiltersInForce, filters: readonly Filter[]): Record<string, unknown>[] | undefined {
  const conditions: Record<string, unknown>[] = [];
  // both ends of a span in one condition: as two, a server may read the index from one end to its end
  const spans = new Map<string, Record<string, Date>>();
  for (const { argument, member, by } of filters) {
    const value = given[argument];
    if (value === undefined) continue;
    if (by === 'WORDS') {
      if (searchWords(String(value)).length === 0) return undefined;
      conditions.push(...searchConditions(String(value)));
    } else if (by === 'EQUALS') {
      const values = isList(value) ? value : [value];
      conditions.push({ [member]: values.length === 1 ? values[0] : trusted({ $in: values }) });
    } else {
      const span = { ...spans.get(member), [by === 'SINCE' ? '$gte' : '$lt']: new Date(String(value)) };
      spans.set(member, span);
    }
  }
  return [...conditions, ...[...spans].map(([member, span]) => ({ [member]: trusted(span) }))];
}

/** Whether a filter asks for what changed: the list is then one that copies are kept by. */
export function asksForChanges(given: FiltersInForce, filters: readonly Filter[]): boolean {
  return filters.some(({ argument, member, by }) => member === 'updated_at' && by === 'SINCE' && argument in given);
}
