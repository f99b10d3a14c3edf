import type { ApiKey } from './models';

export type KeyState = 'active' | 'revoked' | 'expired';

/** Whether a key lives, and if not why. */
export function keyState(key: Pick<ApiKey, 'revoked_at' | 'expires_at'>, now: Date): KeyState {
  if (key.revoked_at !== null) return 'revoked';
  return key.expires_at !== null && key.expires_at <= now ? 'expired' : 'active';
}
