import { RateLimiterRes } from 'rate-limiter-flexible';
import { addressBucket } from '../auth/addresses';
import type { KeyPrincipal } from '../auth/principal';
import { AppError } from '../errors';

/** Length of a window in seconds (contract, section 6). */
export const WINDOW_SECONDS = 60;

/** Budget of one key (or organisation, or address) in its current window. */
export interface RateState {
  /** Points per window. */
  readonly limit: number;
  readonly remaining: number;
  /** When the window ends. */
  readonly resetAt: Date;
  /** Whether the requested points were within the budget. */
  readonly allowed: boolean;
}

/** Counts points: a limiter from rate-limiter-flexible, or a combination of several. */
export interface RateStore {
  /** Rejects with a RateLimiterRes if there are not enough points. */
  consume(id: string, points: number): Promise<RateLimiterRes>;
}

export interface RateLimiter {
  /** Takes points from a key's budget, even if the request is rejected; a negative number gives points back. */
  consume(id: string, points?: number): Promise<RateState>;
}

/** Budget of a key, and of its organisation unless the key's ran out first. */
export interface KeyRateState extends RateState {
  readonly organisation?: RateState;
}

export interface KeyRateLimiter {
  /** Takes points from the budget of a key and from that of its organisation, even if the request is rejected. */
  consume(caller: Pick<KeyPrincipal, 'key' | 'organisation'>, points?: number): Promise<KeyRateState>;
}

/** Takes from the key first, so that a key over its own limit costs the other keys of its organisation nothing. */
export function createKeyRateLimiter(keys: RateLimiter, organisations: RateLimiter): KeyRateLimiter {
  return {
    async consume({ key, organisation }, points) {
      const keyResult = await keys.consume(key.id, points);
      if (!keyResult.allowed) return keyResult;
      const shared = await organisations.consume(organisation.id, points);
      return { ...keyResult, allowed: shared.allowed, organisation: shared };
    },
  };
}

/** A rate limiter with fixed windows of one minute. */
export function createRateLimiter(limit: number, store: RateStore): RateLimiter {
  const stateOf = (result: RateLimiterRes, allowed: boolean): RateState => ({
    limit,
    remaining: Math.max(0, Math.min(limit, result.remainingPoints)),
    resetAt: new Date(Date.now() + Math.max(0, result.msBeforeNext)),
    allowed,
  });
  return {
    async consume(id, points = 1) {
      try {
        return stateOf(await store.consume(id, points), true);
      } catch (refusal) {
        if (refusal instanceof RateLimiterRes) return stateOf(refusal, false);
        throw refusal;
      }
    },
  };
}

/** Whole seconds until a window ends, at least 1: the value of `Retry-After`. */
export function secondsUntilReset(state: RateState): number {
  return Math.max(1, Math.ceil((state.resetAt.getTime() - Date.now()) / 1000));
}

/** Takes points from a budget. @throws AppError rate_limited, with the reason, if there are not enough */
export async function spend(limiter: RateLimiter, id: string, points: number, reason?: string): Promise<RateState> {
  const state = await limiter.consume(id, points);
  if (!state.allowed) throw rateLimited(state, reason);
  return state;
}

export function rateLimited(state: KeyRateState, reason = 'Rate limit exceeded'): AppError {
  const { organisation } = state;
  if (organisation?.allowed === false) return rateLimited(organisation, 'Rate limit of the organisation exceeded');
  const retryAfter = secondsUntilReset(state);
  return new AppError('rate_limited', `${reason}; retry in ${String(retryAfter)} s.`, { retryAfter });
}

/**
 * Limits failed attempts per address. The point is taken before the work and given back on success, so that neither sequential nor
 * concurrent attempts get more work done than the limit. Each `kind` has its own budget: a program with a revoked key must not keep people
 * at its address from signing in to create another.
 */
export function attempts(limiter: RateLimiter, kind: string, reason: string) {
  /** Resolves with what `work` does; undefined is a failure. @throws AppError rate_limited */
  return async <Result>(address: string, work: () => Promise<Result | undefined>): Promise<Result | undefined> => {
    const id = `${kind} ${addressBucket(address)}`;
    await spend(limiter, id, 1, reason);
    const result = await work();
    if (result !== undefined) await limiter.consume(id, -1);
    return result;
  };
}

/** Counts failed authentications from an address. */
export function failedAuthentications(limiter: RateLimiter) {
  /** @throws AppError rate_limited */
  return async (address: string): Promise<void> => {
    await spend(limiter, addressBucket(address), 1, 'Too many failed authentications from this address');
  };
}
