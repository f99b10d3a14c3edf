import { type ApiKey, type KeyState, keyState } from '../auth/apiKey';

/** What a request's key was found to be, active being `live`; `malformed` includes a missing one. */
export type FoundKey = Exclude<KeyState, 'active'> | 'live' | 'unknown' | 'malformed';
export const FOUND_KEYS = ['live', 'revoked', 'expired', 'unknown', 'malformed'] as const satisfies readonly FoundKey[];

/** The label of a key as it was found: null if there is none, undefined if it is malformed. */
export function keyLabel(found: ApiKey | null | undefined, now: number): FoundKey {
  if (!found) return found === null ? 'unknown' : 'malformed';
  const state = keyState(found, new Date(now));
  return state === 'active' ? 'live' : state;
}

/**
 * The operation label of a request, from a bounded set: the name of its only root field, `introspection`, `multiple`
 * for several, `other` for a field or fragment not in the schema, `none` if it failed before that was known.
 */
export function operationLabel(operations: readonly string[]): (fields: string | undefined) => string {
  const known = new Set(operations);
  return (fields) => {
    if (fields === undefined || fields === '') return 'none';
    if (known.has(fields)) return fields;
    const names = fields.split(' ');
    if (names.every((name) => name.startsWith('__'))) return 'introspection';
    return names.length > 1 ? 'multiple' : 'other';
  };
}
