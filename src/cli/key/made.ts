import { DEFAULT_MCP } from '../../auth/mcpAccess';
import type { MadeKey } from '../../organisations/apiKeys';
import { printPairs, say } from '../common/terminal';

/* What create and rotate share. */

/** When a key made now ends; undefined if no lifetime was given. */
export const endOf = (lifetime: number | undefined, now: number): Date | undefined =>
  lifetime === undefined ? undefined : new Date(now + lifetime);

export function jsonOf({ key, document: { _id: id, prefix, scopes } }: MadeKey): Record<string, unknown> {
  return { id, key, prefix, scopes };
}

/** Prints a new key in human-readable form. */
export function showKey({ key, document }: MadeKey): void {
  const { _id: id, organisation, scopes: granted, expires_at: expiresAt, allowed_ranges: allowed, mcp } = document;
  printPairs({
    key,
    id,
    organisation: organisation.name,
    scopes: granted.join(', '),
    expires: expiresAt?.toISOString() ?? 'never',
    ...(allowed.length > 0 && { from: allowed.join(', ') }),
    mcp: mcp ?? DEFAULT_MCP,
  });
  say('\nSave the key now: it will not be shown again. Send it as "Authorization: Bearer <key>".');
}
