import type { Constraint } from '../sdl';
import { sentences } from './sentences';

/* Compares the bounds of two values, one of which becomes the other. */

const LOWER = ['min', 'min_length', 'min_items'] as const;
const UPPER = ['max', 'max_length', 'max_items'] as const;

/** Formats that a format contains, beside itself. */
const CONTAINED: Readonly<Record<string, readonly string[]>> = { 'known-currency': ['currency'] };

/**
 * Finds what a value may be and the other may not, whose place is `other`. With `isAmended`, only its upper bounds count and the values
 * it may have.
 */
export function boundGaps(
  place: string,
  given: Constraint = {},
  other: string,
  wanted: Constraint = {},
  { isAmended = false } = {},
): string[] {
  const { pattern, format, one_of: values } = wanted;
  const below = LOWER.filter((name) => wanted[name] !== undefined && !((given[name] ?? -Infinity) >= wanted[name]));
  const above = UPPER.filter((name) => wanted[name] !== undefined && !((given[name] ?? Infinity) <= wanted[name]));
  const isOfFormat = given.format === format || (CONTAINED[format ?? ''] ?? []).includes(given.format ?? '');
  const isListed = given.one_of?.every((value) => values?.includes(value)) ?? false;
  const looser = [
    ...(isAmended ? [] : below).map((name) => `${name}: ${String(wanted[name])}`),
    ...above.map((name) => `${name}: ${String(wanted[name])}`),
    ...sentences(
      !isAmended && pattern !== undefined && given.pattern !== pattern && `pattern: ${JSON.stringify(pattern)}`,
      format !== undefined && !isOfFormat && `format: "${format}"`,
      values !== undefined && !isListed && `one_of: ${JSON.stringify(values)}`,
    ),
  ];
  return looser.map((bound) => `${place} takes what ${other} excludes, which has ${bound}: write that, too`);
}
