import type { Fault } from '../errors';
import { escapePointer } from '../validation';

/** Faults of texts that no database keeps as they are: halves of surrogate pairs, which JSON lets through. */
export function brokenTexts(value: unknown): Fault[] {
  // pointers are made where there is a fault to tell: they took a tenth of an import
  return isSound(value) ? [] : faultsIn(value, '');
}

function isSound(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(isSound);
}

function faultsIn(value: unknown, pointer: string): Fault[] {
  if (typeof value === 'string' && !value.isWellFormed()) {
    return [{ pointer, code: 'format', detail: 'holds half of a character (a lone surrogate)' }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => faultsIn(member, `${pointer}/${escapePointer(name)}`));
}
