import { randomUUID } from 'node:crypto';
import type { Fault } from '../errors';
import { hasParts, objectName, POSITION, type StoredMember } from '../schema/storedTypes';
import { isObject } from './elementFaults';

/* The objects in a list of an object, such as lines. */

type Members = Readonly<Record<string, unknown>>;

/** Faults of parts, at any depth, that have the id of an earlier part of their list; `place` is a pointer to the object. */
export function repeatedIds(members: readonly StoredMember[], object: Members, place = ''): Fault[] {
  return members.flatMap((member): Fault[] => {
    const { name, type, isList, members: inner } = member;
    const value = object[name];
    if (inner.length === 0 || Array.isArray(value) !== isList) return [];
    const ids = new Set<string>();
    return [value].flat().flatMap((part, index): Fault[] => {
      if (!isObject(part)) return [];
      const at = `${place}/${name}${isList ? `/${String(index)}` : ''}`;
      const within = repeatedIds(inner, part, at);
      if (!hasParts(member) || typeof part.id !== 'string') return within;
      const id = part.id.toLowerCase();
      if (!ids.has(id)) {
        ids.add(id);
        return within;
      }
      const detail = `is that of an earlier ${objectName(type).replaceAll('_', ' ')}`;
      return [{ pointer: `${at}/id`, code: 'duplicate', detail }, ...within];
    });
  });
}

/**
 * Parts without an id keep that of a stored one: first of one with the same content, then of the one at the same position, or if they have
 * none, with the same texts that it is found by; without such texts, of any that is left, in their order. Callers have put the ids in lower case.
 */
export function withIds(
  parts: readonly unknown[],
  members: readonly StoredMember[],
  old: readonly Members[],
): unknown[] {
  const hasPosition = members.some(({ name }) => name === POSITION);
  const content = members.filter(({ name }) => name !== 'id' && name !== POSITION).map(({ name }) => name);
  const identity = hasPosition ? [POSITION] : members.flatMap(({ name, isSearchable }) => (isSearchable ? [name] : []));
  const placedParts = parts.map((part, at) =>
    isObject(part) && hasPosition ? { ...part, [POSITION]: part[POSITION] ?? at } : part,
  );
  const usedIds = new Set(
    placedParts.flatMap((part) => (isObject(part) && typeof part.id === 'string' ? part.id : [])),
  );
  const ids = new Map<unknown, string>();
  for (const names of [content, identity]) {
    const keyOf = (part: Members): string => JSON.stringify(names.map((name) => part[name] ?? null));
    const free = new Map<string, string[]>();
    // reversed, so that `pop` takes the first
    for (const part of old.toReversed()) {
      const { id } = part;
      if (typeof id !== 'string' || usedIds.has(id)) continue;
      const key = keyOf(part);
      const others = free.get(key);
      // in place: another program may have stored thousands of equal parts
      if (others) others.push(id);
      else free.set(key, [id]);
    }
    for (const part of placedParts) {
      if (!isObject(part) || (part.id ?? null) !== null || ids.has(part)) continue;
      const id = free.get(keyOf(part))?.pop();
      if (id === undefined) continue;
      ids.set(part, id);
      usedIds.add(id);
    }
  }
  return placedParts.map((part) => {
    if (!isObject(part)) return part;
    return { ...part, id: part.id ?? ids.get(part) ?? randomUUID() };
  });
}
