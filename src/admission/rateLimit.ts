import { RateLimiterRes } from 'rate-limiter-flexible';
import { addressBucket } from '../auth/addresses';
import type { KeyPrincipal, Organisation } from '../auth/principal';
import { AppError } from '../errors';

/*
 * Rate limits. A point is the unit of a budget: a request costs one, and more if it is costly; contract, section 6. A budget holds the same
 * number of points in each window of a minute.
 */

/** Length of a window in seconds. */
export const WINDOW_SECONDS = 60;

/** What is left of the budget of one key (or organisation, user or address) in its current window. */
export interface RateState {
  /** Points per window. */
  readonly limit: number;
  readonly remaining: number;
  /** When the window ends, by this machine's clock. */
  readonly resetAt: Date;
  /** Whether the requested points were within the budget. */
  readonly allowed: boolean;
}

/** Counts points by id: a limiter from rate-limiter-flexible, or one in memory behind a shared one. */
export interface RateStore {
  /** Rejects with a RateLimiterRes if there are not enough points. */
  consume(id: string, points: number): Promise<RateLimiterRes>;
}

/** The budgets of one kind, by the id of the key, organisation or address. */
export interface RateLimiter {
  /**
   * Takes points, by default one, even if the budget has too few: `allowed` is false then. A negative number gives points back.
   * @throws if the store fails
   */
  consume(id: string, points?: number): Promise<RateState>;
}

/** Budget of a key, and of its organisation unless the key's ran out first; `allowed` is for both. */
export interface KeyRateState extends RateState {
  readonly organisation?: RateState;
}

/** Where the requests of a key are counted. */
export interface KeyBudgets {
  readonly keys: RateLimiter;
  /** Of all keys of an organisation together. */
  readonly organisations: RateLimiter;
}

export interface KeyRateLimiter {
  /** Takes points from the budget of a key and then, unless that had too few, of its organisation, even if that has; `allowed` is false if either had. */
  consume(caller: Pick<KeyPrincipal, 'key' | 'organisation'>, points?: number): Promise<KeyRateState>;
}

/** Takes from the key first, so that a key over its own limit costs the other keys of its organisation nothing. */
export function createKeyRateLimiter(budgetsOf: (organisation: Organisation) => KeyBudgets): KeyRateLimiter {
  return {
    async consume({ key, organisation }, points) {
      const { keys, organisations } = budgetsOf(organisation);
      const keyResult = await keys.consume(key.id, points);
      if (!keyResult.allowed) return keyResult;
      const shared = await organisations.consume(organisation.id, points);
      return { ...keyResult, allowed: shared.allowed, organisation: shared };
    },
  };
}

/** A rate limiter with fixed windows of one minute. `limit` is the number of points that `store` allows in a window; it is only reported. */
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

/** Takes points from a budget. @throws AppError rate_limited, whose message begins with `reason`, if there are not enough; they are taken then, too */
export async function spend(limiter: RateLimiter, id: string, points: number, reason?: string): Promise<RateState> {
  const state = await limiter.consume(id, points);
  if (!state.allowed) throw rateLimited(state, reason);
  return state;
}

/** The error for a caller whose budget, or whose organisation's, has too few points. */
export function rateLimited(state: KeyRateState, reason = 'Rate limit exceeded'): AppError {
  const { organisation } = state;
  if (organisation?.allowed === false) return rateLimited(organisation, 'Rate limit of the organisation exceeded');
  const retryAfter = secondsUntilReset(state);
  return new AppError('rate_limited', `${reason}; retry in ${String(retryAfter)} s.`, { retryAfter });
}

/**
 * Returns a function that runs an attempt, and limits the failed ones per address. The point is taken before the work and given back on
 * success, so that neither sequential nor concurrent attempts get more work done than the limit. Each `kind` has its own budget: a program
 * with a revoked key must not keep people at its address from signing in to create another.
 */
export function createAttemptLimit(limiter: RateLimiter, kind: string, reason: string) {
  /** Resolves with what `work` does. Undefined is a failure, and costs the point, as does an error of `work`. @throws AppError rate_limited */
  return async <Result>(address: string, work: () => Promise<Result | undefined>): Promise<Result | undefined> => {
    const id = `${kind} ${addressBucket(address)}`;
    await spend(limiter, id, 1, reason);
    const result = await work();
    if (result !== undefined) await limiter.consume(id, -1);
    return result;
  };
}

/** Returns a function to call after a failed authentication, with a budget per address that keys and operators' tokens share. */
export function createFailureCounter(limiter: RateLimiter) {
  /** Takes a point. @throws AppError rate_limited, instead of the failure's own error, if the address has none left */
  return async (address: string): Promise<void> => {
    await spend(limiter, addressBucket(address), 1, 'Too many failed authentications from this address');
  };
}
