import type { Fault } from '../../errors';
import { escapePointer } from '../../schema/validation';

/** Maximum depth, to bound the walk of nested input: deeper values are in unknown members, which are rejected anyway. */
export const DEEPEST = 8;
/** Maximum faults of a value; more than the strings of the largest element. */
const MOST = 1000;

/** Unicode's Cc: C0 except tab and line breaks, DEL and C1. A carriage return is valid only in a Windows line break. */
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\r(?!\n)/;

/**
 * Faults of strings that cannot be stored or shown unchanged: lone surrogates, which are valid in JSON but not in databases,
 * and control characters, which break terminals and logs. At most `most` of them.
 */
export function brokenTexts(value: unknown, most = MOST): Fault[] {
  // build pointers only if there are faults: they took a tenth of the time of an import
  if (isSound(value, 0)) return [];
  const faults: Fault[] = [];
  collect(value, '', 0, faults, most);
  return faults;
}

function isSound(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !CONTROL.test(value);
  if (typeof value !== 'object' || value === null || depth === DEEPEST) return true;
  return Object.values(value).every((member) => isSound(member, depth + 1));
}

function collect(value: unknown, pointer: string, depth: number, faults: Fault[], most: number): void {
  if (typeof value === 'string') {
    const detail = brokenBy(value);
    if (detail !== undefined) faults.push({ pointer, code: 'format', detail });
    return;
  }
  if (typeof value !== 'object' || value === null || depth === DEEPEST) return;
  for (const [name, member] of Object.entries(value)) {
    if (faults.length >= most) return;
    if (!isSound(member, depth + 1)) collect(member, `${pointer}/${escapePointer(name)}`, depth + 1, faults, most);
  }
}

function brokenBy(text: string): string | undefined {
  if (!text.isWellFormed()) return 'must not contain a lone surrogate (half of a character)';
  const [found] = CONTROL.exec(text) ?? [];
  if (found === undefined) return undefined;
  const code = found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return `must not contain control characters other than tabs and line breaks (found U+${code})`;
}
