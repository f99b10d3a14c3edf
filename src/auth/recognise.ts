import { RateLimiterMemory } from 'rate-limiter-flexible';
import { within } from '../async/timeout';
import type { Recognise } from './authenticate';

/** Lookups per second and process, of all callers; limited, since they cost the caller no points. */
const MAX_PER_SECOND = 20;
/** In milliseconds; shorter than the 2.6 s after which requests are refused while the database does not respond (admission/requestTracker.ts). */
const TIMEOUT = 1500;

export type BestEffortRecognise = ReturnType<typeof createBestEffortRecognise>;

/**
 * Identifies callers of unknown routes for their usage and the request log. The 404 does not depend on the key, so this must stay quick and
 * cheap: it resolves with undefined if there are too many such requests, or the lookup takes too long.
 */
export function createBestEffortRecognise(recognise: Recognise) {
  const lookups = new RateLimiterMemory({ points: MAX_PER_SECOND, duration: 1 });
  return async (
    authorization: string | undefined,
    address: string,
  ): Promise<Awaited<ReturnType<Recognise>> | undefined> => {
    if (authorization === undefined) return undefined;
    try {
      await lookups.consume('all');
      return await within(TIMEOUT, recognise(authorization, address));
    } catch {
      return undefined;
    }
  };
}
