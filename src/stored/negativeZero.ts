import { DEEPEST } from './brokenTexts';

/**
 * Replaces -0 by 0 in a value from JSON, in place. Python and Go write -0.0, which is no other amount, but databases and deep
 * comparisons tell them apart, so that an unchanged object would be stored again.
 */
export function replaceNegativeZero(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null || depth === DEEPEST) return;
  const members = value as Record<string | number, unknown>;
  // the names of a list would be a text for each element
  for (const name of Array.isArray(value) ? value.keys() : Object.keys(members)) {
    const member = members[name];
    if (member === 0) members[name] = 0;
    else if (typeof member === 'object') replaceNegativeZero(member, depth + 1);
  }
}
