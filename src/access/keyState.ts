export type KeyState = 'active' | 'revoked' | 'expired';

/** The members of a key that determine its state. */
export interface KeyLife {
  readonly revoked_at: Date | null;
  readonly expires_at: Date | null;
}

/** Whether a key is active, and if not, why. */
export function keyState({ revoked_at, expires_at }: KeyLife, now: Date): KeyState {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && expires_at <= now ? 'expired' : 'active';
}
