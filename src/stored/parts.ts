import { randomUUID } from 'node:crypto';
import type { StoredMember } from '../schema/storedTypes';
import { isObject } from './elementFaults';

/* The objects in a list of an object, such as lines. */

type Members = Readonly<Record<string, unknown>>;

const POSITION = 'position';

/**
 * Parts without an id keep that of a stored one: first of one with the same content, then of the one at the same position, or if they have
 * none, with the same texts that it is found by.
 */
export function withIds(
  parts: readonly unknown[],
  members: readonly StoredMember[],
  old: readonly Members[],
): unknown[] {
  const hasPosition = members.some(({ name }) => name === POSITION);
  const content = members.filter(({ name }) => name !== 'id' && name !== POSITION).map(({ name }) => name);
  const found = hasPosition ? [POSITION] : members.flatMap(({ name, isSearchable }) => (isSearchable ? [name] : []));
  const all = parts.map((one, at) => (isObject(one) && hasPosition ? { ...one, position: one[POSITION] ?? at } : one));
  const taken = new Set(all.flatMap((one) => (isObject(one) && typeof one.id === 'string' ? one.id : [])));
  const ids = new Map<unknown, string>();
  for (const names of [content, found]) {
    const keyOf = (one: Members): string => JSON.stringify(names.map((name) => one[name] ?? null));
    const free = new Map<string, string[]>();
    for (const one of old.toReversed()) {
      const { id } = one;
      if (typeof id !== 'string' || taken.has(id)) continue;
      free.set(keyOf(one), [...(free.get(keyOf(one)) ?? []), id]);
    }
    for (const one of all) {
      if (!isObject(one) || (one.id ?? null) !== null || ids.has(one)) continue;
      const id = free.get(keyOf(one))?.pop();
      if (id === undefined) continue;
      ids.set(one, id);
      taken.add(id);
    }
  }
  return all.map((one) => {
    if (!isObject(one)) return one;
    return { ...one, id: one.id ?? ids.get(one) ?? randomUUID() };
  });
}
