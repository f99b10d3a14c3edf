import { trusted } from 'mongoose';
import { MAY_BE_EMPTY } from '../jsonSchema';
import { searchConditions, searchWords } from '../search';
import { COMPARED, comparable } from './compared';

/*
 * Filters of lists (contract, section 2): a null is as if left out, and so is an empty `q`; any other that is empty was refused
 * before it got here.
 */

type Given = string | number | boolean | readonly string[];

/** The filters in force, for the cursor's fingerprint and the conditions. */
export function filtersInForce(
  args: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, Given> {
  const given: Record<string, Given> = {};
  for (const name of names) {
    const value = args[name] as Given | null | undefined;
    if (value === null || value === undefined || (name === MAY_BE_EMPTY && value === '')) continue;
    given[name] = isList(value) ? [...new Set(value.map((item) => asKept(name, item)))].sort() : asKept(name, value);
  }
  return given;
}

/** A value in the spelling that is kept: ids in small letters, keys in NFC. */
function asKept<T extends string | number | boolean>(name: string, value: T): T | string {
  if (typeof value !== 'string') return value;
  if (name.endsWith('_id')) return value.toLowerCase();
  return COMPARED.includes(name) ? comparable(value) : value;
}

function isList(value: Given): value is readonly string[] {
  return Array.isArray(value);
}

/**
 * Filters as MongoDB conditions: `q` searches, `x_since` bounds x_at, a list matches any of its values, the rest equal. Undefined
 * where nothing can match: a search that holds no word.
 */
export function toConditions(filters: Readonly<Record<string, Given>>): Record<string, unknown>[] | undefined {
  if (filters[MAY_BE_EMPTY] !== undefined && searchWords(String(filters[MAY_BE_EMPTY])).length === 0) return undefined;
  return Object.entries(filters).flatMap(([name, value]) => {
    if (isList(value)) return [{ [name]: value.length === 1 ? value[0] : trusted({ $in: value }) }];
    if (name === MAY_BE_EMPTY) return searchConditions(String(value));
    if (name.endsWith('_since')) {
      return [{ [name.replace(/_since$/, '_at')]: trusted({ $gte: new Date(String(value)) }) }];
    }
    return [{ [name]: value }];
  });
}
