import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ask, onAsked } from '../workerChannel';
import { type RateStore, WINDOW_SECONDS } from './rateLimit';

/*
 * Limits that the workers of `serve --workers` share through their primary process, so that they are exact even without Redis. Not RateLimiterCluster, which
 * sends a message for each request (docs/decisions/workers.md).
 */

const LIMIT = 'limit';
/** How long to wait for the primary's reply, in milliseconds; long before that the caller's request falls back to a limit in memory. */
const ANSWER_TIMEOUT = 5000;

/** `limit` is in points per window, the same in all workers. */
type ConsumeRequest = readonly [name: string, id: string, points: number, limit: number];
type ConsumeResult = readonly [allowed: boolean, remaining: number, msBeforeNext: number, consumed: number];

/** Runs in the primary: keeps the counts for its workers. */
export function shareLimits(): void {
  const limiters = new Map<string, RateLimiterMemory>();
  onAsked(LIMIT, async ([name, id, points, limit]: ConsumeRequest): Promise<ConsumeResult> => {
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
      ask<ConsumeResult>(LIMIT, [name, id, points, limit] satisfies ConsumeRequest, ANSWER_TIMEOUT).then(
        ([allowed, ...counts]) =>
          new Promise((resolve, reject) => {
            (allowed ? resolve : reject)(new RateLimiterRes(...counts));
          }),
      ),
  };
}
