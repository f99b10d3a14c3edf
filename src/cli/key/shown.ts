import type { ApiKey } from '../../auth/apiKey';
import { DEFAULT_MCP } from '../../auth/mcpAccess';
import type { Store } from '../common/open';

/** The members shown, as an allowlist: a hash, or a new member of the document, can never leak. */
const SHOWN = [
  ...(['name', 'prefix', 'last_four', 'scopes', 'created_by', 'created_at', 'expires_at', 'revoked_at'] as const),
  ...(['last_used_at', 'last_used_from', 'allowed_ranges', 'rotated_to'] as const),
] satisfies readonly (keyof ApiKey)[];

/** A key as list and show print it. */
export type ShownKey = ReturnType<typeof shownKey>;

export function shownKey(key: ApiKey, { stateOf }: Store['control']['apiKeys']) {
  const members = Object.fromEntries(SHOWN.map((member) => [member, key[member]]));
  const shown = members as Pick<ApiKey, (typeof SHOWN)[number]>;
  return { id: key._id, ...shown, mcp: key.mcp ?? DEFAULT_MCP, state: stateOf(key) };
}

/** What is known of a key's value. */
export const valueOf = ({ prefix, last_four }: Pick<ApiKey, 'prefix' | 'last_four'>): string =>
  `${prefix}…${last_four}`;

/** Where a key may be used from. */
export const placesOf = (ranges: readonly string[]): string => (ranges.length > 0 ? ranges.join(', ') : 'anywhere');
