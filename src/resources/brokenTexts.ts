import type { Fault } from '../errors';

/** Faults of texts that no database keeps as they are: halves of surrogate pairs, which JSON lets through. */
export function brokenTexts(value: unknown, pointer = ''): Fault[] {
  if (typeof value === 'string') {
    return value.isWellFormed() ? [] : [{ pointer, code: 'format', detail: 'must be well-formed Unicode' }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => brokenTexts(member, `${pointer}/${name}`));
}
