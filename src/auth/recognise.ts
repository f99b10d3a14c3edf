import { RateLimiterMemory } from 'rate-limiter-flexible';
import { within } from '../within';
import type { Recognise } from './authenticate';

/** Requests whose key is looked up, in a second and a process: they cost their caller nothing. */
const MOST = 20;
/** How long that may take, in milliseconds: less than until a request that waits for the database is refused. */
const WITHIN = 1500;

export type RecogniseSome = ReturnType<typeof recogniseSome>;

/**
 * Finds whose requests without a route are, as far as that is quick and cheap: they are answered whether their key is valid or not, but
 * belong in its request log. Undefined if there are too many, or their key is not found in time.
 */
export function recogniseSome(recognise: Recognise) {
  const some = new RateLimiterMemory({ points: MOST, duration: 1 });
  return async (...request: Parameters<Recognise>): Promise<Awaited<ReturnType<Recognise>> | undefined> => {
    if (request[0] === undefined) return undefined;
    try {
      await some.consume('all');
      return await within(WITHIN, recognise(...request));
    } catch {
      return undefined;
    }
  };
}
