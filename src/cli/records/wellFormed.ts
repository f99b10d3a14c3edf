import { escapePointer } from '../../validation';

const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;
/** With the flag u, a pair is one character and only half of one matches. */
const HALF_CHARACTER = /\p{Surrogate}/u;

/** Pointer to the first text that holds half of a character, which no database stores as it is. */
export function halfCharacterAt(line: string, record: unknown): string | undefined {
  // only an escape can bring one into valid UTF-8
  return SURROGATE_ESCAPE.test(line) ? find(record, '') : undefined;
}

function find(value: unknown, pointer: string): string | undefined {
  if (typeof value === 'string') return HALF_CHARACTER.test(value) ? pointer : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [member, child] of Object.entries(value)) {
    const found = find(child, `${pointer}/${escapePointer(member)}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
