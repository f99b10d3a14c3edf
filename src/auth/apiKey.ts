import { KEY_TEXT } from './keys';
import type { McpAccess } from './mcpAccess';
import type { Organisation } from './principal';
import type { Scope } from './scopes';

/** An API key as stored in the control database, without the key itself. */
export interface ApiKey {
  /** UUID. */
  readonly _id: string;
  readonly organisation: Organisation;
  readonly name: string;
  readonly prefix: string;
  readonly last_four: string;
  readonly salt: string;
  readonly hash: string;
  /** Number of the pepper it is hashed with, the first being 0 (organisations/pepper.ts). */
  readonly pepper?: number;
  readonly scopes: readonly Scope[];
  readonly created_by: string;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly last_used_at: Date | null;
  /** Network address of that use. */
  readonly last_used_from: string | null;
  /** CIDR ranges it may be used from; empty means anywhere. */
  readonly allowed_ranges: readonly string[];
  /** The key that replaced it. */
  readonly rotated_to: string | null;
  /** What it may do over MCP; the default of mcpAccess.ts if it is missing. */
  readonly mcp?: McpAccess;
}

export type KeyState = 'active' | 'revoked' | 'expired';

/** Whether a key is active, and if not, why. */
export function keyState({ revoked_at, expires_at }: Pick<ApiKey, 'revoked_at' | 'expires_at'>, now: Date): KeyState {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && expires_at <= now ? 'expired' : 'active';
}

/**
 * Controls, and characters that are not seen or change the direction of the text around them, in which a name could pose as another; not
 * those that join letters and emoji (zero-width joiners, variation selectors).
 */
const UNSEEN =
  /(?![\u034f\u200c\u200d\ufe00-\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** What has ink, or makes none without something else. */
const SEEN = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** What a name of a key, an organisation or a user must be but is not; undefined if it can be a name. Its length is not checked. */
export function nameFault(name: string): string | undefined {
  if (!SEEN.test(name) || UNSEEN.test(name)) return 'must be one non-blank line of visible characters';
  // all members read names
  return name.search(KEY_TEXT) === -1 ? undefined : 'must not contain an API key';
}
