import { LRUCache } from 'lru-cache';
import { AppError } from '../errors';
import type { ApiKey } from './apiKey';
import { addressBucket, isInRanges } from './addresses';
import { parseKey, secretMatches } from './keys';
import { keyState } from './keyState';
import { PLANS } from './plans';
import type { KeyPrincipal, Organisation } from './principal';
import { type RateLimiter, type RateState, secondsUntilReset } from './rateLimit';

/** What an authenticator needs of the keys. */
export interface KeySource {
  /** Reads a key by id from the primary. */
  find(id: string): Promise<ApiKey | null>;
  /** Notes a use; never holds the request up. */
  markUsed(key: ApiKey, address: string): void;
  /** Told of a key that is refused again without being looked up: what was found the first time. */
  readonly repeated?: (found: ApiKey | null) => void;
}

export interface AuthenticatorOptions {
  readonly apiKeys: KeySource;
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
  const findKey = keyFinder(options, options.now ?? Date.now);
  return async (authorization, address) => {
    const key = await findKey(authorization);
    if (!key || !isInRanges(address, key.allowed_ranges)) {
      const state = await options.failures.consume(addressBucket(address));
      if (!state.allowed) throw rateLimited(state, 'Too many failed authentications from this address');
      throw unauthenticated();
    }
    options.apiKeys.markUsed(key, address);
    return toPrincipal(key);
  };
}

/** Refused keys that are remembered, and how long, in milliseconds. */
const REFUSALS_KEPT = { max: 5000, ttl: 10_000 };
/** From this refusal on within that time a key is refused from memory: a caller that hammers costs no database call. */
const REPEATED_FROM = 100;

/**
 * Finds the live key of an Authorization header. A refusal holds for good (an id is never given again, a secret never
 * changed, a key never brought back), so it may be repeated without asking; the few seconds bound what a database that was
 * restored or failed over could have made of it. What was let in is never remembered. The text counts, not the id:
 * whoever guesses learns no more from the second answer than from the first.
 */
function keyFinder(options: AuthenticatorOptions, now: () => number): (header?: string) => Promise<ApiKey | undefined> {
  const refusals = new LRUCache<string, { found: ApiKey | null; times: number }>(REFUSALS_KEPT);
  return async (header) => {
    const token = /^Bearer +([^\s]+) *$/i.exec(header ?? '')?.[1];
    const parsed = token === undefined ? undefined : parseKey(token, options.keyPrefix);
    if (token === undefined || !parsed) return undefined;
    const refusal = refusals.get(token);
    if (refusal && refusal.times >= REPEATED_FROM) {
      options.apiKeys.repeated?.(refusal.found);
      return undefined;
    }
    const found = await options.apiKeys.find(parsed.id);
    const matches = secretMatches(parsed.secret, found ?? undefined, options.pepper);
    if (matches && found && keyState(found, new Date(now())) === 'active') return found;
    if (refusal) Object.assign(refusal, { found, times: refusal.times + 1 });
    else refusals.set(token, { found, times: 1 });
    return undefined;
  };
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
