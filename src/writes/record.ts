import { randomUUID } from 'node:crypto';
import { isObject } from '../stored/elementFaults';
import type { Row } from '../stored/resource';
import { KEY, METADATA, metadataObject } from '../schema/metadata';
import type { StoredMember } from '../schema/storedTypes';
import type { Kind, Members } from './kinds';

/* The whole record that an element makes of an object, in the form that import takes, before it is checked. */

/** Objects in a list of an object, such as lines. */
export const MAX_PARTS = 1000;

interface Making {
  readonly id: string;
  readonly now: Date;
  /** The object as it is stored; undefined if it is new. */
  readonly before: Row | undefined;
  /** Whether members that are left out keep their values. */
  readonly isPatch: boolean;
  readonly organisation: { readonly currency: string };
}

/** The record of an object, with what a caller gave. Unknown and invalid members stay in it, for the check to find. */
export function recordOf(kind: Kind, given: Members, { id, now, before, isPatch, organisation }: Making): Members {
  const { stored, defaults } = kind.resource;
  const old = before && storedRecord(kind, before);
  const made: Members = isPatch ? { ...old, ...given, ...mergedMetadata(old, given) } : given;
  const otherwise = defaults(organisation);

  function valueOf(member: StoredMember): unknown {
    const { name, isRequired, isList } = member;
    const isTime = isRequired && member.kind === 'dateTime';
    if (kind.own.has(name)) return old?.[name] ?? (isTime ? now.toISOString() : isRequired ? 0 : undefined);
    if (isTime) return given[name] ?? old?.[name] ?? now.toISOString();
    // what remains undefined is required
    const empty = name === METADATA ? {} : isList ? [] : isRequired ? undefined : null;
    const value = made[name] ?? otherwise[name] ?? empty;
    return name in given ? completed(value, member, kind.lists.includes(member), old?.[name]) : value;
  }

  const all: Record<string, unknown> = { ...made };
  for (const member of stored.members) all[member.name] = valueOf(member);
  all.id = id;
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** A stored row as a record, with times as texts. */
function storedRecord({ resource: { stored } }: Kind, before: Row): Members {
  const row = before as Row & Members;
  const record: Record<string, unknown> = {};
  for (const { name } of stored.members) {
    const value = name === 'id' ? row._id : row[name];
    const isTime = value instanceof Date && !Number.isNaN(value.getTime());
    if (value !== undefined) record[name] = isTime ? value.toISOString() : value;
    if (name === METADATA) record[name] = metadataObject(value);
  }
  return record;
}

/** The metadata after a patch: what is given replaces pairs or adds them, and null removes them. What is not an object stays, for the check to find. */
function mergedMetadata(old: Members | undefined, { [METADATA]: given }: Members): Members {
  if (!isObject(given)) return {};
  const merged = new Map([...Object.entries(old?.[METADATA] ?? {}), ...Object.entries(given)]);
  return { [METADATA]: Object.fromEntries([...merged].filter(([key, value]) => value !== null || !KEY.test(key))) };
}

/** A value with null in the nullable members of its objects that were left out, and with the ids and positions of its parts. */
function completed(value: unknown, member: StoredMember, hasIds: boolean, old: unknown): unknown {
  if (member.kind !== 'object') return value;
  if (!member.isList) return filled(value, member.members);
  // a longer list is refused by its length
  if (!Array.isArray(value) || value.length > MAX_PARTS) return value;
  const items = value.map((one) => filled(one, member.members));
  return hasIds ? withIds(items, member.members, Array.isArray(old) ? old.filter(isObject) : []) : items;
}

function filled(value: unknown, members: readonly StoredMember[]): unknown {
  if (!isObject(value)) return value;
  const left = members.filter(({ name, isRequired, isList }) => !isRequired && !isList && value[name] === undefined);
  return { ...value, ...Object.fromEntries(left.map(({ name }) => [name, null])) };
}

const POSITION = 'position';

/**
 * Parts without an id keep that of a stored one: first of one with the same content, then of the one at the same position, or if they have
 * none, with the same texts that it is found by.
 */
function withIds(parts: readonly unknown[], members: readonly StoredMember[], old: readonly Members[]): unknown[] {
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
