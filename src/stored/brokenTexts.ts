import type { Fault } from '../errors';
import { escapePointer } from '../schema/validation';

/** Maximum depth, to bound the walk of nested input: as deep as JSON that we read may be (http/json.ts), and deeper than any known member. */
const DEEPEST = 64;
/** Maximum faults of a value, enough to refuse it. */
const MAX = 1000;

/** Unicode's Cc: C0 except tab and line breaks, DEL and C1. A carriage return is valid only in a Windows line break. */
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\r(?!\n)/;

/**
 * Faults of strings that cannot be stored or shown unchanged: lone surrogates, which are valid in JSON but not in databases,
 * and control characters, which break terminals and logs. Returns at most 1,000 faults.
 */
export function brokenTexts(value: unknown): Fault[] {
  return findBrokenTexts(value, MAX, Infinity).faults;
}

/** The same, with at most `most` faults, of which only the first `values` strings, lists and other values are searched; `isTruncated` if that left out some. */
export function findBrokenTexts(
  value: unknown,
  most: number,
  values: number,
): { faults: Fault[]; isTruncated: boolean } {
  const faults: Fault[] = [];
  let isTruncated = false;
  // pointers are built only for faults: building them for all values took a tenth of an import's time
  const path: (string | number)[] = [];
  let left = values;
  const visit = (value: unknown): void => {
    left -= 1;
    if (typeof value === 'string') {
      const detail = brokenBy(value);
      if (detail === undefined) return;
      const pointer = path.map((name) => `/${escapePointer(String(name))}`).join('');
      faults.push({ pointer, code: 'format', detail });
    } else if (typeof value === 'object' && value !== null && path.length < DEEPEST) {
      for (const name of namesOf(value)) {
        if (faults.length >= most || left <= 0) {
          isTruncated = true;
          return;
        }
        path.push(name);
        visit((value as Members)[name]);
        path.pop();
      }
    }
  };
  visit(value);
  return { faults, isTruncated };
}

type Members = Record<string | number, unknown>;

/** The names of members, or the indexes of a list, which as names would take a string for each element. */
function namesOf(value: object): Iterable<string | number> {
  return Array.isArray(value) ? value.keys() : Object.keys(value);
}

function brokenBy(text: string): string | undefined {
  if (!text.isWellFormed()) return 'must not contain a lone surrogate (half of a character)';
  const [character] = CONTROL.exec(text) ?? [];
  if (character === undefined) return undefined;
  const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return `must not contain control characters other than tabs and line breaks (found U+${code})`;
}

/**
 * Replaces -0 by 0 in a value from JSON, in place. Python and Go write -0.0, which is the same amount, but databases and deep
 * comparisons tell the two apart, so an unchanged object would be stored again.
 */
export function replaceNegativeZero(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null || depth === DEEPEST) return;
  const members = value as Members;
  for (const name of namesOf(value)) {
    const member = members[name];
    if (member === 0) members[name] = 0;
    else if (typeof member === 'object') replaceNegativeZero(member, depth + 1);
  }
}
