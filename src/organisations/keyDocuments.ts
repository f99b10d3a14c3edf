import { trusted } from 'mongoose';
import { type ApiKey, type NewKey, NOWHERE, rangesOf } from '../auth/keys';
import { DEFAULT_MCP } from '../auth/principal';
import type { Scope } from '../auth/scopes';
import type { Fault } from '../errors';
import { LATEST } from '../units';
import type { Actor, Authority } from './auditEvents';

/* Keys as they are stored, found, and described in the audit log. */

/** What can be changed in a key. Undefined members stay as they are; a new key gets their defaults: any address, {@link DEFAULT_MCP}. */
export type KeyUpdate = {
  readonly [Name in 'name' | 'scopes' | 'expires_at' | 'allowed_ranges' | 'mcp']?: ApiKey[Name] | undefined;
};

export type NewApiKey = KeyUpdate &
  Pick<ApiKey, 'name' | 'scopes' | 'created_by' | 'expires_at' | 'app'> & {
    readonly organisationId: string;
    /** The customers whose data alone it has. */
    readonly customerIds?: readonly string[] | undefined;
  };

/** Why a key cannot be created or changed. The message is for operators; `fault` is for users, who know which key they mean. */
export class KeyRefused extends Error {
  override readonly name = 'KeyRefused';

  constructor(
    readonly fault: Fault,
    message: string,
  ) {
    super(message);
  }
}

/** A new key as it is stored. Of one that is restricted to customers, only `restricted` has the real ranges, which earlier versions do not read. */
export function toDocument(
  { organisationId: _, customerIds, scopes, allowed_ranges = [], mcp = DEFAULT_MCP, ...input }: NewApiKey,
  { id, displayPrefix, lastFour, salt, hash }: NewKey,
  more: Pick<ApiKey, 'organisation' | 'created_at' | 'pepper'>,
): ApiKey {
  const ranges = customerIds
    ? { allowed_ranges: [NOWHERE], restricted: { customer_ids: customerIds, allowed_ranges } }
    : { allowed_ranges };
  return {
    _id: id,
    ...input,
    ...more,
    prefix: displayPrefix,
    last_four: lastFour,
    salt,
    hash,
    scopes: [...new Set(scopes)],
    ...ranges,
    mcp,
    revoked_at: null,
    last_used_at: null,
    last_used_from: null,
    rotated_to: null,
  };
}

/** The replacement of a key, with the same settings, that expires at `end`. */
export function successorOf(old: ApiKey, end: Date | null, by: Actor): NewApiKey {
  const { organisation, name, scopes, mcp, restricted } = old;
  return {
    organisationId: organisation.id,
    name,
    scopes,
    allowed_ranges: rangesOf(old),
    customerIds: restricted?.customer_ids,
    mcp,
    created_by: by.name ?? by.who,
    expires_at: end,
  };
}

/** When a key expires that is created now and has the lifetime of another, in the year 9999 at the latest; null for never. */
export function sameLifetime(
  { created_at, expires_at }: Pick<ApiKey, 'created_at' | 'expires_at'>,
  now: Date,
): Date | null {
  return expires_at && new Date(Math.min(now.getTime() + expires_at.getTime() - created_at.getTime(), LATEST));
}

/** Identifies a key in audit details, with no more of its text than lists show. */
export const keyIdentity = ({ name, prefix, last_four }: ApiKey) => ({ name, prefix, last_four });

/** What audit details say of a new key. */
export const keyDescription = (key: ApiKey) => {
  const { scopes, expires_at, mcp, app, restricted } = key;
  return {
    ...keyIdentity(key),
    scopes,
    // until its code is redeemed, the row of an app expires with that
    expires_at: app ? app.ends_at : expires_at,
    allowed_ranges: rangesOf(key),
    mcp,
    ...(restricted && { customer_ids: restricted.customer_ids }),
    ...(app && { app: { client_id: app.client_id, host: app.host } }),
  };
};

/** @throws KeyRefused, about the member at `pointer`, if the key is that of an app: its consent decides what would be changed */
export function refuseForApp({ _id, app }: ApiKey, pointer: string, detail: string): void {
  if (app) throw new KeyRefused({ pointer, code: 'not_allowed', detail }, `key ${_id} ${detail}`);
}

/** Matches the keys that an authority may change. */
export const ownKeys = ({ organisationId }: Authority): Record<string, string> =>
  organisationId === undefined ? {} : { 'organisation.id': organisationId };

/** Matches keys that are active, or that are revoked or have expired. */
export function stateCondition(state: 'active' | 'ended', now: Date): Record<string, unknown> {
  return state === 'active'
    ? { revoked_at: null, $or: [{ expires_at: null }, { expires_at: trusted({ $gt: now }) }] }
    : { $or: [{ revoked_at: trusted({ $ne: null }) }, { expires_at: trusted({ $lte: now }) }] };
}

/** Matches keys by part of their name, or by the start or last four characters of their text. */
export function keySearchCondition(text: string): Record<string, unknown> {
  const name = trusted({ $regex: escapeRegExp(text), $options: 'i' });
  return { $or: [{ name }, { prefix: trusted({ $regex: `^${escapeRegExp(text)}` }) }, { last_four: text }] };
}

/** Matches keys that were created before a time and not used since. */
export function unusedConditions(since: Date): Record<string, unknown>[] {
  return [
    { created_at: trusted({ $lt: since }) },
    { $or: [{ last_used_at: null }, { last_used_at: trusted({ $lt: since }) }] },
  ];
}

export const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** The members that an update changes, with their old and new values. */
export function changesOf(key: ApiKey, update: KeyUpdate): { from: KeyUpdate; to: Partial<ApiKey> } {
  const { name, scopes, expires_at, mcp = DEFAULT_MCP } = key;
  const before: KeyUpdate = { name, scopes, expires_at, allowed_ranges: rangesOf(key), mcp };
  const after: KeyUpdate = { ...update, scopes: update.scopes && inOrderOf(scopes, update.scopes) };
  const members = (Object.keys(before) as (keyof KeyUpdate)[]).filter(
    // compares dates and lists by value
    (member) => after[member] !== undefined && JSON.stringify(before[member]) !== JSON.stringify(after[member]),
  );
  const only = (all: KeyUpdate): object => Object.fromEntries(members.map((member) => [member, all[member]]));
  return { from: only(before), to: only(after) };
}

/** The members of an update as the key stores them. */
export function asStored(
  { restricted }: Pick<ApiKey, 'restricted'>,
  { allowed_ranges, ...to }: Partial<ApiKey>,
): Partial<ApiKey> {
  if (!allowed_ranges) return to;
  return { ...to, ...(restricted ? { restricted: { ...restricted, allowed_ranges } } : { allowed_ranges }) };
}

/** A set of scopes in the order of the one before, new ones last, so that the same set is no change. */
function inOrderOf(before: readonly Scope[], after: readonly Scope[]): readonly Scope[] {
  return [...new Set([...before.filter((scope) => after.includes(scope)), ...after])];
}
