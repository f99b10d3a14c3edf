import { published } from './model';

/**
 * Whether a member holds callers' keys, by which bulk calls match objects. Keys are stored and compared in Unicode NFC, so that an é of
 * one code point and an é of two are the same; case and white space are significant.
 */
export function isCallerKey(member: string): boolean {
  return published.callerKeys.includes(member);
}

/**
 * In code units: a valid key has at most 64 characters by the built-in SDL, each of at most six code units when decomposed, and one of a user's own
 * type at most half as many characters as this (checks/lengths.ts). Anything longer is left as
 * it is for the check that follows to refuse, since the time to normalise combining marks grows with the square of their number.
 */
export const LONGEST_KEY = 64 * 6;
/** The most keys in a list argument by the SDL; a longer list is left for the check, too. */
export const KEYS_IN_LIST = 20;

/** Normalises a string for storing and comparing, unless it is too long to be valid. */
export function normalised(text: string): string {
  return text.length > LONGEST_KEY ? text : text.normalize('NFC');
}

/** Normalises the keys in arguments, or in an element of a bulk call, before their length is checked. The same object if none changes. */
export function normaliseKeys(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const keys = published.callerKeys.filter((name) => name in args);
  const normalisedKeys = keys.map((name) => [name, normaliseValue(args[name])] as const);
  const changed = normalisedKeys.filter(([name, value]) => value !== args[name]);
  return changed.length === 0 ? args : { ...args, ...Object.fromEntries(changed) };
}

function normaliseValue(value: unknown): unknown {
  if (typeof value === 'string') return normalised(value);
  return Array.isArray(value) && value.length <= KEYS_IN_LIST ? value.map(normaliseValue) : value;
}
