import { type ApiKey, keyState } from '../auth/apiKey';
import { DEFAULT_MCP, type McpAccess } from '../auth/mcpAccess';
import type { Authority } from './auditEvents';
import { identify, ownKeys } from './keyDocuments';
import type { ControlModels } from './models';

/** What to change of a key; what is undefined stays. */
export interface KeyUpdate {
  readonly name?: string | undefined;
  /** Null if it never expires. */
  readonly expiresAt?: Date | null | undefined;
  /** CIDR ranges it may be used from; anywhere if empty. */
  readonly allowedRanges?: readonly string[] | undefined;
  readonly mcp?: McpAccess | undefined;
}

/** Another expiry for a key that was replaced, which ends with its overlap. */
export class ReplacedExpiryError extends Error {
  override readonly name = 'ReplacedExpiryError';

  /** The message without the key's id. */
  readonly detail = 'cannot be changed, because the key was replaced and ends with its overlap';

  constructor(id: string) {
    super(`the expiry of key ${id} cannot be changed: it was replaced and ends with its overlap`);
  }
}

type Changeable = Pick<ApiKey, 'name' | 'expires_at' | 'allowed_ranges'> & { readonly mcp: McpAccess };

/**
 * Changes an active key, from its next request on. Resolves with the key as it is then; undefined if there is no such active
 * key. @throws ReplacedExpiryError
 */
export function keyUpdate(models: ControlModels, now: () => number) {
  return (id: string, update: KeyUpdate, by: Authority): Promise<ApiKey | undefined> =>
    models.change(async (session, record) => {
      const before = await models.apiKeys.findOne({ _id: id, ...ownKeys(by) }, undefined, { session }).lean();
      if (!before || keyState(before, new Date(now())) !== 'active') return undefined;
      const { from, to } = changesOf(before, update);
      if (Object.keys(to).length === 0) return before;
      if (to.expires_at !== undefined && before.rotated_to !== null) throw new ReplacedExpiryError(id);
      await models.apiKeys.updateOne({ _id: id }, { $set: to }, { session });
      await record(by.actor, 'key.updated', before.organisation.id, { ...identify(before), from, to }, id);
      return { ...before, ...to };
    });
}

/** The members that differ, with their old and new values. */
function changesOf(key: ApiKey, update: KeyUpdate): { from: Partial<Changeable>; to: Partial<Changeable> } {
  const { name, expires_at, allowed_ranges, mcp = DEFAULT_MCP } = key;
  const before: Changeable = { name, expires_at, allowed_ranges, mcp };
  const after: Changeable = {
    name: update.name ?? name,
    expires_at: update.expiresAt === undefined ? expires_at : update.expiresAt,
    allowed_ranges: update.allowedRanges ?? allowed_ranges,
    mcp: update.mcp ?? mcp,
  };
  const members = (Object.keys(before) as (keyof Changeable)[]).filter(
    // dates and lists are the same if they are written the same
    (member) => JSON.stringify(before[member]) !== JSON.stringify(after[member]),
  );
  const only = (all: Changeable): Partial<Changeable> =>
    Object.fromEntries(members.map((member) => [member, all[member]]));
  return { from: only(before), to: only(after) };
}
