import type { Fault } from '../errors';
import { escapePointer } from '../validation';

/** Faults of texts that no database keeps as they are: halves of surrogate pairs, which JSON lets through. */
export function brokenTexts(value: unknown, pointer = ''): Fault[] {
  if (typeof value === 'string') {
    return value.isWellFormed()
      ? []
      : [{ pointer, code: 'format', detail: 'holds half of a character (a lone surrogate)' }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => brokenTexts(member, `${pointer}/${escapePointer(name)}`));
}
