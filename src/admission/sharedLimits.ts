import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ask, onAsked } from '../workerChannel';
import { type RateStore, WINDOW_SECONDS } from './rateLimit';

/*
 * Limits that the workers of `serve --workers` share through their primary process, exact without Redis. Not RateLimiterCluster, which
 * sends a message for each request (docs/decisions/workers.md).
 */

const LIMIT = 'limit';
/** Timeout of an answer from the primary, in milliseconds; its request has fallen back to memory long before. */
const ANSWER_TIMEOUT = 5000;

/** `limit` is in points per window, the same in all workers. */
type Ask = readonly [name: string, id: string, points: number, limit: number];
type Taken = readonly [allowed: boolean, remaining: number, msBeforeNext: number, consumed: number];

/** Counts for the workers of this process. */
export function shareLimits(): void {
  const limiters = new Map<string, RateLimiterMemory>();
  onAsked(LIMIT, async ([name, id, points, limit]: Ask): Promise<Taken> => {
    let limiter = limiters.get(name);
    if (!limiter) limiters.set(name, (limiter = new RateLimiterMemory({ points: limit, duration: WINDOW_SECONDS })));
    let allowed = true;
    const result = await limiter.consume(id, points).catch((refusal: unknown) => {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      allowed = false;
      return refusal;
    });
    return [allowed, result.remainingPoints, result.msBeforeNext, result.consumedPoints];
  });
}

/** A limiter that counts in the primary process. */
export function workersLimiter(name: string, limit: number): RateStore {
  return {
    consume: (id, points) =>
      ask<Taken>(LIMIT, [name, id, points, limit] satisfies Ask, ANSWER_TIMEOUT).then(
        ([allowed, ...counts]) =>
          new Promise((resolve, reject) => {
            (allowed ? resolve : reject)(new RateLimiterRes(...counts));
          }),
      ),
  };
}
