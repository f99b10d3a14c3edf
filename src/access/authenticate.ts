import type { ApiKey, ApiKeys } from '../organisations/apiKeys';
import { AppError } from '../errors';
import { addressBucket, isInRanges } from './addresses';
import { parseKey, secretMatches } from './keys';
import { PLANS } from './plans';
import type { KeyPrincipal, Organisation } from './principal';
import { type RateLimiter, type RateState, secondsUntilReset } from './rateLimit';

export interface AuthenticatorOptions {
  readonly apiKeys: Pick<ApiKeys, 'find' | 'markUsed'>;
  readonly keyPrefix: string;
  readonly pepper: string;
  /** Limits failed authentications of one address. */
  readonly failures: RateLimiter;
  readonly now?: () => number;
}

export type Authenticate = (authorization: string | undefined, address: string) => Promise<KeyPrincipal>;

/**
 * Turns an Authorization header into a principal. The key is read from the primary on every call, so a revocation holds
 * on every instance from the moment it was acknowledged.
 * @throws AppError unauthenticated, the same for every reason, a foreign address too; rate_limited when the address failed too often.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const now = options.now ?? Date.now;
  return async (authorization, address) => {
    const key = await findKey(authorization, options);
    if (!key || !isLive(key, now()) || !isInRanges(address, key.allowed_ranges)) {
      const state = await options.failures.consume(addressBucket(address));
      if (!state.allowed) throw rateLimited(state, 'Too many failed authentications from this address');
      throw unauthenticated();
    }
    options.apiKeys.markUsed(key, address);
    return toPrincipal(key);
  };
}

async function findKey(authorization: string | undefined, options: AuthenticatorOptions): Promise<ApiKey | undefined> {
  const token = /^Bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1];
  const parsed = token === undefined ? undefined : parseKey(token, options.keyPrefix);
  if (!parsed) return undefined;
  const key = (await options.apiKeys.find(parsed.id)) ?? undefined;
  return secretMatches(parsed.secret, key, options.pepper) ? key : undefined;
}

function isLive(key: ApiKey, now: number): boolean {
  return key.revoked_at === null && (key.expires_at === null || key.expires_at.getTime() > now);
}

function toPrincipal(key: ApiKey): KeyPrincipal {
  return {
    kind: 'key',
    organisation: key.organisation,
    scopes: new Set(key.scopes),
    key: { id: key._id, name: key.name, prefix: key.prefix, expiresAt: key.expires_at },
  };
}

/** @throws AppError plan_required unless the organisation's plan includes API access. */
export function requirePlan({ plan }: Organisation): void {
  if (!PLANS[plan].integrations) {
    throw new AppError('plan_required', "The organisation's plan does not include API access.");
  }
}

export function unauthenticated(): AppError {
  return new AppError('unauthenticated', 'A valid API key is required: Authorization: Bearer <key>.');
}

export function rateLimited(state: RateState, reason = 'The budget of this minute is spent'): AppError {
  const retryAfter = secondsUntilReset(state);
  return new AppError('rate_limited', `${reason}; try again in ${String(retryAfter)} s.`, { retryAfter });
}
