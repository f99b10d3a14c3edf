import type { Logger } from 'pino';
import { type Limiters, openLimiters } from './admission/limiters';
import { failedAuthentications, keyRateLimiter } from './admission/rateLimit';
import type { RequestTracker } from './admission/requestTracker';
import { createAuthenticator } from './auth/authenticate';
import { recogniseSome } from './auth/recognise';
import { type Config, MOST_POINTS } from './config';
import type { Databases } from './database/connect';
import { createEventSource } from './events/source';
import type { Waiting } from './events/waiting';
import { redact } from './log';
import { keyLabel, type Metrics } from './metrics';
import { contextFactory } from './operations/context';
import type { Schemas } from './operations/build';
import type { Control } from './organisations/control';
import { typeChecks } from './schema/validation';
import { SECOND } from './units';

/* Who calls with a key, and how often; the same for all APIs. */

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

interface CallersOptions {
  readonly config: Config;
  readonly databases: Databases;
  readonly control: Control;
  readonly schemas: Schemas;
  readonly tracker: Pick<RequestTracker<never>, 'admit' | 'admitOrganisation' | 'isCalm'>;
  readonly metrics: Metrics;
  readonly limiters: Limiters;
  readonly waiting: Waiting;
}

/**
 * How long keys are remembered where organisations can move, in milliseconds. An old copy is kept 90 s for requests that read it
 * (src/cli/org/copies.ts), so one that moved away and back since its key was read has done so before any request that this is for began.
 */
const SEEN_FOR = 20 * SECOND;

/** Opens the context of requests with a key, and recognises some keys for those that need none. */
export function keyCallers(options: CallersOptions) {
  const { config, databases, control, schemas, tracker, metrics, limiters, waiting } = options;
  const { apiKeys } = control;
  const { authenticate, recognise } = createAuthenticator({
    // the key lookup is the first query of a request, so the request is admitted before it
    apiKeys: {
      find(id) {
        tracker.admit();
        return apiKeys.find(id);
      },
      markUsed: apiKeys.markUsed,
      rehash: apiKeys.rehash,
    },
    keyPrefixes: [config.KEY_PREFIX, config.KEY_PREFIX_TEST],
    pepper: config.KEY_PEPPER,
    previousPepper: config.KEY_PEPPER_PREVIOUS,
    now: databases.now,
    seenFor: databases.clusters.length > 1 ? SEEN_FOR : 0,
    countFailure: failedAuthentications(metrics.counted('address', limiters.failures)),
    onFound: (found) => {
      metrics.keyFound(keyLabel(found, databases.now()));
    },
  });
  const { counted } = metrics;
  const elementCheck = typeChecks(schemas.graphql, { elementBounds: true, closed: false });
  const openContext = contextFactory({
    authenticate,
    limiter: keyRateLimiter(counted('key', limiters.keys), counted('organisation', limiters.organisations)),
    organisationData: databases.organisationData,
    admit: tracker.admitOrganisation,
    isCalm: tracker.isCalm,
    checkElement: (type, ...args) => elementCheck(type)(...args),
    eventSource: createEventSource(databases, waiting),
    onOverLimit: () => {
      metrics.keyFound('live');
    },
  });
  return { openContext, recognise: recogniseSome(recognise) };
}
