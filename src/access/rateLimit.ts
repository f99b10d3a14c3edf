import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** Length of a window in seconds (contract, section 6). */
export const WINDOW_SECONDS = 60;

/** Budget of one key (or address) in its current window. */
export interface RateState {
  /** Points a window. */
  readonly limit: number;
  readonly remaining: number;
  /** When the window ends. */
  readonly resetAt: Date;
  /** Whether the points asked for were within the budget. */
  readonly allowed: boolean;
}

export interface RateLimiter {
  /** Takes points from a key's budget; a refused request takes them too. */
  consume(id: string, points?: number): Promise<RateState>;
}

/**
 * Fixed windows of a minute over any store of rate-limiter-flexible: memory for one instance. A shared store is another
 * `RateLimiterAbstract` passed here.
 */
export function createRateLimiter(limit: number, store: RateLimiterAbstract = memoryStore(limit)): RateLimiter {
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

function memoryStore(limit: number): RateLimiterMemory {
  return new RateLimiterMemory({ points: limit, duration: WINDOW_SECONDS });
}

/** Whole seconds until a window ends, at least 1: the value of `Retry-After`. */
export function secondsUntilReset(state: RateState): number {
  return Math.max(1, Math.ceil((state.resetAt.getTime() - Date.now()) / 1000));
}
