import { trusted } from 'mongoose';
import type { ApiKey, NewKey } from '../auth/keys';
import { DEFAULT_MCP, type McpAccess } from '../auth/mcpAccess';
import type { Organisation } from '../auth/principal';
import type { Scope } from '../auth/scopes';
import type { Fault } from '../errors';
import type { Actor, Authority } from './auditEvents';

/* Keys as they are stored, found, and described in the audit log. */

export interface NewApiKey {
  readonly organisationId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdBy: string;
  readonly expiresAt: Date | null;
  /** CIDR ranges it may be used from; anywhere if omitted or empty. */
  readonly allowedRanges?: readonly string[];
  /** What it may do over MCP; {@link DEFAULT_MCP} if omitted. */
  readonly mcp?: McpAccess | undefined;
}

/** What to change of a key; what is undefined stays. */
export interface KeyUpdate {
  readonly name?: string | undefined;
  /** Null if it never expires. */
  readonly expiresAt?: Date | null | undefined;
  /** CIDR ranges it may be used from; anywhere if empty. */
  readonly allowedRanges?: readonly string[] | undefined;
  readonly mcp?: McpAccess | undefined;
}

/** Why a key cannot be made or changed. The message is for operators; `fault` is for users, who know which key they mean. */
export class KeyRefused extends Error {
  override readonly name = 'KeyRefused';

  constructor(
    readonly fault: Fault,
    message: string,
  ) {
    super(message);
  }
}

export function toDocument(
  input: NewApiKey,
  made: NewKey & Pick<ApiKey, 'pepper'>,
  organisation: Organisation,
  createdAt: Date,
): ApiKey {
  const { id, displayPrefix, lastFour, salt, hash, pepper } = made;
  const { name, scopes, createdBy, expiresAt, allowedRanges = [], mcp = DEFAULT_MCP } = input;
  return {
    ...{ _id: id, organisation, name, prefix: displayPrefix, last_four: lastFour, salt, hash },
    ...(pepper !== undefined && { pepper }),
    ...{ scopes: [...new Set(scopes)], created_by: createdBy, created_at: createdAt, expires_at: expiresAt },
    ...{ revoked_at: null, last_used_at: null, last_used_from: null, allowed_ranges: allowedRanges },
    ...{ rotated_to: null, mcp },
  };
}

/** The replacement of a key: the same settings and, by default, the same lifetime. */
export function successorOf(old: ApiKey, now: Date, expiresAt: Date | null | undefined, by: Actor): NewApiKey {
  const sameLifetime = (end: Date): Date => new Date(now.getTime() + end.getTime() - old.created_at.getTime());
  return {
    organisationId: old.organisation.id,
    name: old.name,
    scopes: old.scopes,
    createdBy: by.name ?? by.who,
    expiresAt: expiresAt === undefined ? old.expires_at && sameLifetime(old.expires_at) : expiresAt,
    allowedRanges: old.allowed_ranges,
    mcp: old.mcp,
  };
}

/** What tells a key from others, in audit details; it has no more of the key than lists show. */
export const identify = ({ name, prefix, last_four }: ApiKey) => ({ name, prefix, last_four });

export const describe = (key: ApiKey) => {
  const { scopes, expires_at, allowed_ranges, mcp } = key;
  return { ...identify(key), scopes, expires_at, allowed_ranges, mcp };
};

/** Restricts a user to keys of their own organisation. */
export const ownKeys = ({ organisationId }: Authority): Record<string, string> =>
  organisationId === undefined ? {} : { 'organisation.id': organisationId };

export function stateCondition(state: 'active' | 'ended', now: Date): Record<string, unknown> {
  return state === 'active'
    ? { revoked_at: null, $or: [{ expires_at: null }, { expires_at: trusted({ $gt: now }) }] }
    : { $or: [{ revoked_at: trusted({ $ne: null }) }, { expires_at: trusted({ $lte: now }) }] };
}

/** Of keys with a text in their name, or whose value begins or ends with it as far as lists show it. */
export function searchCondition(text: string): Record<string, unknown> {
  const literal = text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const name = trusted({ $regex: literal, $options: 'i' });
  return { $or: [{ name }, { prefix: trusted({ $regex: `^${literal}` }) }, { last_four: text }] };
}

type Changeable = Pick<ApiKey, 'name' | 'expires_at' | 'allowed_ranges'> & { readonly mcp: McpAccess };

/** The members that differ, with their old and new values. */
export function changesOf(key: ApiKey, update: KeyUpdate): { from: Partial<Changeable>; to: Partial<Changeable> } {
  const { name, expires_at, allowed_ranges, mcp = DEFAULT_MCP } = key;
  const before: Changeable = { name, expires_at, allowed_ranges, mcp };
  const given = { ...update, expires_at: update.expiresAt, allowed_ranges: update.allowedRanges };
  const members = (Object.keys(before) as (keyof Changeable)[]).filter(
    // dates and lists are the same if they are written the same
    (member) => given[member] !== undefined && JSON.stringify(before[member]) !== JSON.stringify(given[member]),
  );
  const only = (all: Partial<Changeable>): Partial<Changeable> =>
    Object.fromEntries(members.map((member) => [member, all[member]]));
  return { from: only(before), to: only(given as Partial<Changeable>) };
}
