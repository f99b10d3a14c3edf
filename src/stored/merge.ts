import { randomUUID } from 'node:crypto';
import { METADATA } from '../schema/metadata';
import { type Default, hasParts, POSITION, SET_BY_WRITES, type StoredMember } from '../schema/storedTypes';
import type { BulkUpsert, Merge } from '../schema/upserts';
import { isObject } from './elementFaults';
import { withIds } from './parts';

/* What a bulk call or a PATCH makes of an object: from @default, @ignored and the types of its members. */

interface Organisation {
  readonly currency: string;
}

/**
 * The merge of a bulk call: members left out keep their values, null clears a member. `words` gives an object's search words; `gatewayIds` as in
 * ResourceSpec.
 */
export function mergeOf(
  { stored: { members }, set }: Pick<BulkUpsert, 'stored' | 'set'>,
  words: (row: object) => readonly string[],
  gatewayIds: readonly string[] = [],
): Merge {
  const membersToMerge = members
    .filter(({ name }) => !SET_BY_WRITES.includes(name))
    // of metadata a caller sends changes, which withMetadata makes
    .map((member) => ({ member, isSet: set.includes(member.name) && member.name !== METADATA }));
  return (existing, element, organisation) => {
    const before = (existing ?? {}) as Members;
    const input = element as Members;
    const row: Record<string, unknown> = {};
    for (const { member, isSet } of membersToMerge) {
      const { name } = member;
      const old = before[name];
      const value = isSet ? input[name] : undefined;
      if (value !== undefined && value !== null) {
        const merged = asStored(member, value, organisation);
        const keepsIds = !gatewayIds.includes(name);
        row[name] =
          hasParts(member) && Array.isArray(value) ? withOldIds(member, value, merged, old, keepsIds) : merged;
      } else if (value === undefined && old !== undefined) row[name] = old;
      else if (isSet || member.isRequired) {
        const cleared = clearedValue(member, organisation);
        // no value is made up for a stored row that lacks it
        if (cleared !== undefined) row[name] = cleared;
      }
    }
    return { ...row, search: words(row) };
  };
}

type Members = Readonly<Record<string, unknown>>;

/** A list in which objects that were given without an id keep that of a stored one; unless `keepsIds`, also those with an unknown id. */
function withOldIds(
  { members }: StoredMember,
  input: readonly unknown[],
  merged: unknown,
  old: unknown,
  keepsIds: boolean,
): unknown {
  const oldParts = Array.isArray(old) ? old.filter(isObject) : [];
  const oldIds = new Set(oldParts.map(({ id }) => id));
  const parts = (merged as readonly Members[]).map((part, at) => {
    const sent = input[at];
    const isGiven = isObject(sent) && (sent.id ?? null) !== null;
    return isGiven && (keepsIds || oldIds.has(part.id)) ? part : { ...part, id: null };
  });
  return withIds(parts, members, oldParts);
}

/** What a cleared member becomes; undefined if it is never null and has no default: checks require a value of a new object's. */
function clearedValue({ isList, isRequired, otherwise }: StoredMember, organisation: Organisation): unknown {
  if (otherwise) return defaultValue(otherwise, organisation);
  return isList ? [] : isRequired ? undefined : null;
}

function defaultValue(otherwise: Default, { currency }: Organisation): unknown {
  return 'from' in otherwise ? currency : otherwise.value;
}

/** The values of members that a new object leaves out, from @default. */
export function defaultsOf(members: readonly StoredMember[]): (organisation: Organisation) => Members {
  const withDefault = members.flatMap(({ name, otherwise }) => (otherwise ? [[name, otherwise] as const] : []));
  return (organisation) =>
    Object.fromEntries(withDefault.map(([name, otherwise]) => [name, defaultValue(otherwise, organisation)]));
}

/**
 * An object in which members that are never null and are left out have their default, at any depth: one that is from before they were added. The
 * same object if there are none. With `nulls`, a null counts as left out, too.
 */
export function withDefaults<T extends object>(
  members: readonly StoredMember[],
  object: T,
  organisation: Organisation,
  nulls = false,
): T {
  const input = object as Members;
  const filled: Record<string, unknown> = {};
  for (const { name, isRequired, isList, otherwise, members: inner } of members) {
    const value = input[name];
    if (value === undefined || (nulls && value === null)) {
      if (isRequired && otherwise) filled[name] = defaultValue(otherwise, organisation);
    } else if (inner.length > 0) {
      const fill = (object: unknown) => (isObject(object) ? withDefaults(inner, object, organisation, nulls) : object);
      const filledValue: unknown = isList && Array.isArray(value) ? value.map(fill) : fill(value);
      const isSame =
        Array.isArray(filledValue) && Array.isArray(value)
          ? filledValue.every((element, at) => element === value[at])
          : filledValue === value;
      if (!isSame) filled[name] = filledValue;
    }
  }
  return Object.keys(filled).length > 0 ? { ...object, ...filled } : object;
}

/** A given value as it is stored: times as dates, ids in lower case, and objects with every member. `at` is its place in a list. */
function asStored(member: StoredMember, value: unknown, organisation: Organisation, at?: number): unknown {
  if (Array.isArray(value)) return value.map((element, index) => asStored(member, element, organisation, index));
  if (value === null) return null;
  if (member.kind === 'dateTime') return new Date(value as string);
  if (member.type === 'ID') return (value as string).toLowerCase();
  return isObject(value) ? completed(member.members, value, organisation, at) : value;
}

/** An object of a list or member with every member of its type, and an id and its position if it lacks them. */
function completed(
  members: readonly StoredMember[],
  input: Members,
  organisation: Organisation,
  at: number | undefined,
): Members {
  const entries = members.map((member) => {
    const { name } = member;
    const value = input[name];
    if (value !== undefined && value !== null) return [name, asStored(member, value, organisation)] as const;
    if (name === POSITION && at !== undefined) return [name, at] as const;
    return [name, name === 'id' ? randomUUID() : clearedValue(member, organisation)] as const;
  });
  return Object.fromEntries(entries);
}
