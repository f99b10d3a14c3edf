import { isObject } from '../stored/elementFaults';
import { withIds } from '../stored/parts';
import { hasTime } from '../stored/records';
import type { Row } from '../stored/resource';
import { METADATA_KEY, METADATA, metadataObject } from '../schema/metadata';
import type { StoredMember } from '../schema/storedTypes';
import { type Kind, MAX_PARTS, type Members } from './kinds';

/* The whole record that an element makes of an object, in the form that import takes, before it is checked. */

interface RecordOptions {
  readonly id: string;
  readonly now: Date;
  /** The object as the elements before have left it; undefined if it is new. */
  readonly before: Row | undefined;
  /** Whether members that are left out keep their values. */
  readonly isPatch: boolean;
  readonly organisation: { readonly currency: string };
}

/** The record of an object, with the members of an element (`input`), references resolved. Unknown and invalid ones stay in it, for the check to find. */
export function recordOf(
  kind: Kind,
  input: Members,
  { id, now, before, isPatch, organisation }: RecordOptions,
): Members {
  const { stored, defaults } = kind.resource;
  const old = before && storedRecord(kind, before);
  const members: Members = isPatch ? { ...old, ...input, ...mergedMetadata(old, input) } : input;
  const defaultValues = defaults(organisation);

  function valueOf(member: StoredMember): unknown {
    const { name, isRequired, isList } = member;
    const isTime = isRequired && member.kind === 'dateTime';
    // required members that only the gateway sets are times or counts, such as message_count; of a stored row that lacks them, writes/rows.ts counts anew
    if (kind.gatewayOwn.has(name)) return old?.[name] ?? (isTime ? now.toISOString() : isRequired ? 0 : undefined);
    // a put, too, keeps a required time that it lacks or that is null, since callers may not know it (docs/decisions/operator-writes.md)
    if (isTime) return input[name] ?? old?.[name] ?? now.toISOString();
    // a required member without a value stays undefined, for the check to find
    const empty = name === METADATA ? {} : isList ? [] : isRequired ? undefined : null;
    // null, given or stored, makes way for the default
    const value = members[name] ?? defaultValues[name] ?? empty;
    return name in input ? completed(value, member, kind.lists.includes(member), old?.[name]) : value;
  }

  const record: Record<string, unknown> = { ...members };
  for (const member of stored.members) record[member.name] = valueOf(member);
  record.id = id;
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

/** A stored row as a record, with times as texts. */
function storedRecord({ resource: { stored } }: Kind, before: Row): Members {
  const row = before as Row & Members;
  const record: Record<string, unknown> = {};
  for (const member of stored.members) {
    const { name } = member;
    const value = name === 'id' ? row._id : row[name];
    if (value !== undefined) record[name] = hasTime(member) ? withTexts(value) : value;
    if (name === METADATA) record[name] = metadataObject(value);
  }
  return record;
}

/** A value with texts in place of times, at any depth; what is no valid time stays, for the check to find. */
function withTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withTexts);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? value : value.toISOString();
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withTexts(member)]));
}

/** The metadata after a patch: what is given replaces pairs or adds them, and null removes them. What is not an object stays, for the check to find. */
function mergedMetadata(old: Members | undefined, { [METADATA]: pairs }: Members): Members {
  if (!isObject(pairs)) return {};
  const merged = new Map([...Object.entries(old?.[METADATA] ?? {}), ...Object.entries(pairs)]);
  return {
    [METADATA]: Object.fromEntries([...merged].filter(([key, value]) => value !== null || !METADATA_KEY.test(key))),
  };
}

/**
 * A value with null in the nullable members of its objects that were left out, and with the ids and positions of its parts. @default does not
 * apply inside: what is never null there is required, and of objects further inside every member, as the OpenAPI document says (openapi/writes.ts).
 */
function completed(value: unknown, member: StoredMember, hasIds: boolean, old: unknown): unknown {
  if (member.kind !== 'object') return value;
  if (!member.isList) return filled(value, member.members);
  // a longer list is refused by its length
  if (!Array.isArray(value) || value.length > MAX_PARTS) return value;
  const items = value.map((item) => filled(item, member.members));
  return hasIds ? withIds(items, member.members, Array.isArray(old) ? old.filter(isObject) : []) : items;
}

function filled(value: unknown, members: readonly StoredMember[]): unknown {
  if (!isObject(value)) return value;
  const unsetMembers = members.filter(
    ({ name, isRequired, isList }) => !isRequired && !isList && value[name] === undefined,
  );
  return { ...value, ...Object.fromEntries(unsetMembers.map(({ name }) => [name, null])) };
}
