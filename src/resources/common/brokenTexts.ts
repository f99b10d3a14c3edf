import type { Fault } from '../../errors';
import { escapePointer } from '../../schema/validation';

/** No text that is kept stands deeper; what does is unknown, and a fault already. Bounds the walk of what callers nest. */
const DEEPEST = 8;
/** Of one value; more than the texts of the largest element. */
const MOST = 1000;

/** C0 but tab and line breaks, DEL and C1 (Unicode's Cc). A carriage return is half of a Windows line break, or nothing. */
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\r(?!\n)/;

/**
 * Faults of texts that are not kept as they are: halves of surrogate pairs, which JSON lets through and no database
 * stores, and control characters, which tear apart what prints them.
 */
export function brokenTexts(value: unknown): Fault[] {
  // pointers are made where there is a fault to tell: they took a tenth of an import
  if (isSound(value, 0)) return [];
  const faults: Fault[] = [];
  collect(value, '', 0, faults);
  return faults;
}

function isSound(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !CONTROL.test(value);
  if (typeof value !== 'object' || value === null || depth === DEEPEST) return true;
  return Object.values(value).every((member) => isSound(member, depth + 1));
}

function collect(value: unknown, pointer: string, depth: number, faults: Fault[]): void {
  if (typeof value === 'string') {
    const detail = brokenBy(value);
    if (detail !== undefined) faults.push({ pointer, code: 'format', detail });
    return;
  }
  if (typeof value !== 'object' || value === null || depth === DEEPEST) return;
  for (const [name, member] of Object.entries(value)) {
    if (faults.length === MOST) return;
    if (!isSound(member, depth + 1)) collect(member, `${pointer}/${escapePointer(name)}`, depth + 1, faults);
  }
}

function brokenBy(text: string): string | undefined {
  if (!text.isWellFormed()) return 'must not hold half of a character (a lone surrogate)';
  const [found] = CONTROL.exec(text) ?? [];
  if (found === undefined) return undefined;
  const code = found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return `must not hold control characters but tabs and line breaks (it holds U+${code})`;
}
