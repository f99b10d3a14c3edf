import { RateLimiterCluster, RateLimiterClusterMaster } from 'rate-limiter-flexible';
import { type RateStore, WINDOW_SECONDS } from './rateLimit';

/* Limits that the workers of one `serve --workers` share through its first process, exact without Redis. */

/** Timeout of a message to the first process, after its request fell back to memory, in milliseconds. */
const MESSAGE_TIMEOUT = 5000;

/** Counts for the workers of this process. */
export function shareLimits(): void {
  new RateLimiterClusterMaster();
}

/** A limiter that counts in the process that started this worker. */
export function limitOfAllWorkers(name: string, points: number): RateStore {
  return new RateLimiterCluster({ keyPrefix: name, points, duration: WINDOW_SECONDS, timeoutMs: MESSAGE_TIMEOUT });
}
