import type { Fault } from '../errors';
import { escapePointer } from '../schema/validation';

/** Maximum depth, to bound the walk of nested input: deeper values are in unknown members, which are rejected anyway. */
export const DEEPEST = 8;
/** Maximum faults of a value; more than the strings of the largest element. */
const MOST = 1000;

/** Unicode's Cc: C0 except tab and line breaks, DEL and C1. A carriage return is valid only in a Windows line break. */
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\r(?!\n)/;

/**
 * Faults of strings that cannot be stored or shown unchanged: lone surrogates, which are valid in JSON but not in databases,
 * and control characters, which break terminals and logs. At most `most` of them, in the first so many values.
 */
export function brokenTexts(value: unknown, most = MOST, values = Infinity): Fault[] {
  // build pointers only if there are faults: they took a tenth of the time of an import
  if (isSound(value, 0, { left: values })) return [];
  const found: Found = { faults: [], most, left: values };
  collect(value, '', 0, found);
  return found.faults;
}

/** Values that are still looked at. */
interface Room {
  left: number;
}

interface Found extends Room {
  readonly faults: Fault[];
  readonly most: number;
}

function isSound(value: unknown, depth: number, room: Room): boolean {
  room.left -= 1;
  if (typeof value === 'string') return value.isWellFormed() && !CONTROL.test(value);
  if (typeof value !== 'object' || value === null || depth === DEEPEST) return true;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (room.left <= 0) return true;
    if (!isSound(member, depth + 1, room)) return false;
  }
  return true;
}

function collect(value: unknown, pointer: string, depth: number, found: Found): void {
  found.left -= 1;
  if (typeof value === 'string') {
    const detail = brokenBy(value);
    if (detail !== undefined) found.faults.push({ pointer, code: 'format', detail });
    return;
  }
  if (typeof value !== 'object' || value === null || depth === DEEPEST) return;
  const members: Iterable<[string | number, unknown]> = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [name, member] of members) {
    if (found.faults.length >= found.most || found.left <= 0) return;
    collect(member, `${pointer}/${escapePointer(String(name))}`, depth + 1, found);
  }
}

function brokenBy(text: string): string | undefined {
  if (!text.isWellFormed()) return 'must not contain a lone surrogate (half of a character)';
  const [found] = CONTROL.exec(text) ?? [];
  if (found === undefined) return undefined;
  const code = found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return `must not contain control characters other than tabs and line breaks (found U+${code})`;
}

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
