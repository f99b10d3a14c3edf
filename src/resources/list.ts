import { trusted } from 'mongoose';
import { searchConditions } from '../search';

/* Filters of lists: a null, an empty text and an empty list are as if left out (contract, section 2). */

type Given = string | number | boolean | readonly string[];

/** The filters in force, for the cursor's fingerprint and the conditions. */
export function filtersInForce(
  args: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, Given> {
  const given: Record<string, Given> = {};
  for (const name of names) {
    const value = args[name] as Given | null | undefined;
    if (value === null || value === undefined || value === '') continue;
    if (isList(value)) {
      if (value.length > 0) given[name] = [...new Set(value)].sort();
    } else {
      given[name] = name.endsWith('_id') ? String(value).toLowerCase() : value;
    }
  }
  return given;
}

function isList(value: Given): value is readonly string[] {
  return Array.isArray(value);
}

/** Filters as MongoDB conditions: `q` searches, `x_since` bounds x_at, a list matches any of its values, the rest equal. */
export function toConditions(filters: Readonly<Record<string, Given>>): Record<string, unknown>[] {
  return Object.entries(filters).flatMap(([name, value]) => {
    if (isList(value)) return [{ [name]: value.length === 1 ? value[0] : trusted({ $in: value }) }];
    if (name === 'q') return searchConditions(String(value));
    if (name.endsWith('_since')) {
      return [{ [name.replace(/_since$/, '_at')]: trusted({ $gte: new Date(String(value)) }) }];
    }
    return [{ [name]: value }];
  });
}
