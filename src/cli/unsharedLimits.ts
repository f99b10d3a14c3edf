import type { Config } from '../config';

/** What is wrong if INSTANCES says that there are several gateways and no Redis in which they could count together; undefined otherwise. */
export function unsharedLimits({ INSTANCES, REDIS_URL }: Pick<Config, 'INSTANCES' | 'REDIS_URL'>): string | undefined {
  if (INSTANCES === 1 || REDIS_URL !== undefined) return undefined;
  return `REDIS_URL is not set, but INSTANCES is ${String(INSTANCES)}: each gateway allows every limit by itself`;
}

export const SHARE_LIMITS = 'set REDIS_URL to one Redis or Valkey for all gateways';
