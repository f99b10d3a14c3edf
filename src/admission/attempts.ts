import { addressBucket } from '../auth/addresses';
import { type RateLimiter, spend } from './rateLimit';

/**
 * Limits what only strangers fail at, per address. The point is taken before the work and given back if it succeeds, so that neither one after
 * another nor many at once get more work done than the limit. Each `kind` has a budget of its own: a program with a revoked key must not keep
 * the people beside it from signing in to make another.
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

/** Counts failed authentications of an address. */
export function failedAuthentications(limiter: RateLimiter) {
  /** @throws AppError rate_limited */
  return async (address: string): Promise<void> => {
    await spend(limiter, addressBucket(address), 1, 'Too many failed authentications from this address');
  };
}
