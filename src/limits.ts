import type { Logger } from 'pino';
import { type Limiters, openLimiters } from './admission/limiters';
import { keyRateLimiter } from './admission/rateLimit';
import { type Config, MOST_POINTS } from './config';
import { redact } from './log';
import type { Metrics } from './metrics';

interface LimitersOptions {
  readonly config: Pick<Config, 'REDIS_URL' | 'RATE_LIMIT_PER_MINUTE' | 'RATE_LIMIT_ORGANISATION' | 'INSTANCES'>;
  readonly databases: { readonly gateways: { readonly count: () => number } };
  readonly logger: Logger;
  /** Number of this worker, if it shares limits with other workers. */
  readonly worker?: string | undefined;
}

/** How many times the budget of a key its organisation has, unless it is configured. */
const KEYS_WORTH = 10;

/** The limiters of a gateway; it logs and counts whether limits are shared. */
export function limitersOf(
  { config, databases, logger, worker }: LimitersOptions,
  metrics: Metrics,
): Promise<Limiters> {
  const isWorker = worker !== undefined;
  metrics.limiterStore(config.REDIS_URL === undefined && !isWorker ? 'memory' : 'shared');
  return openLimiters({
    limit: config.RATE_LIMIT_PER_MINUTE,
    organisationLimit:
      config.RATE_LIMIT_ORGANISATION ?? Math.min(MOST_POINTS, KEYS_WORTH * config.RATE_LIMIT_PER_MINUTE),
    redisUrl: config.REDIS_URL,
    // each worker is one there
    instances: () => config.INSTANCES ?? databases.gateways.count(),
    isWorker,
    onChange: (state, reason) => {
      metrics.limiterStore(state === 'ok' ? 'shared' : 'degraded');
      logger.warn(
        { limiter: state, ...(reason === undefined ? {} : { reason: redact(reason) }) },
        `shared limits are ${state}`,
      );
    },
  });
}

/** The limiter of requests with a key, whose decisions are counted. */
export function keyLimiterOf({ keys, organisations }: Limiters, { counted }: Pick<Metrics, 'counted'>) {
  return keyRateLimiter(counted('key', keys), counted('organisation', organisations));
}
