import type { Logger } from 'pino';
import { type Limiters, openLimiters } from '../admission/limiters';
import { createFailureCounter, createKeyRateLimiter } from '../admission/rateLimit';
import type { RequestTracker } from '../admission/requestTracker';
import { createAuthenticator } from '../auth/authenticate';
import { bestEffort } from '../auth/recognise';
import { type Config, MAX_POINTS } from '../config';
import type { Databases } from '../tenant/databases';
import { createEventSource } from '../events/source';
import type { Waiting } from '../events/waiting';
import { redact } from '../log';
import { keyLabel, type Metrics } from '../metrics';
import { contextFactory } from '../operations/openContext';
import type { Schemas } from '../operations/build';
import type { Control } from '../organisations/control';
import { typeChecks } from '../schema/validation';

/* Authentication and rate limits of API keys, shared by all APIs. */

interface LimitersOptions {
  readonly config: Pick<Config, 'REDIS_URL' | 'RATE_LIMIT_PER_MINUTE' | 'RATE_LIMIT_ORGANISATION' | 'INSTANCES'>;
  readonly logger: Logger;
}

/** Default budget of an organisation, as a multiple of a key's. */
const ORGANISATION_FACTOR = 10;

/** Opens the limiters of a gateway. Logs and counts whether limits are shared. */
export function openGatewayLimiters({ config, logger }: LimitersOptions, metrics: Metrics): Promise<Limiters> {
  metrics.limiterStore(config.REDIS_URL === undefined ? 'memory' : 'shared');
  return openLimiters({
    limit: config.RATE_LIMIT_PER_MINUTE,
    organisationLimit:
      config.RATE_LIMIT_ORGANISATION ?? Math.min(MAX_POINTS, ORGANISATION_FACTOR * config.RATE_LIMIT_PER_MINUTE),
    redisUrl: config.REDIS_URL,
    instances: config.INSTANCES,
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
 * `openContext` opens the contexts of requests with a key; `recognise` identifies the callers of unknown routes, and `knownKey` those of whose key
 * cannot be read, both for the log.
 */
export function createKeyCallers(options: CallersOptions) {
  const { config, databases, control, schemas, tracker, metrics, limiters, waiting } = options;
  const { apiKeys } = control;
  const { authenticate, recognise, knownKey } = createAuthenticator({
    // the key lookup is the first query of a request, so the request is admitted before it
    apiKeys: {
      find(id) {
        tracker.admit();
        return apiKeys.find(id);
      },
      markUsed: apiKeys.markUsed,
      rehash: apiKeys.rehash,
    },
    keyPrefixes: [config.KEY_PREFIX, config.KEY_PREFIX_TEST, config.KEY_PREFIX_APP],
    appPrefix: config.KEY_PREFIX_APP,
    pepper: config.KEY_PEPPER,
    previousPepper: config.KEY_PEPPER_PREVIOUS,
    now: databases.now,
    countFailure: createFailureCounter(metrics.counted('address', limiters.failures)),
    onFound: (storedKey) => {
      metrics.keyFound(keyLabel(storedKey, databases.now()));
    },
  });
  const { counted } = metrics;
  const elements = { elementBounds: true, closed: false };
  const elementCheck = typeChecks(schemas.graphql, elements);
  // made on first use
  let restCheck: typeof elementCheck | undefined;
  const openContext = contextFactory({
    authenticate,
    limiter: createKeyRateLimiter(counted('key', limiters.keys), counted('organisation', limiters.organisations)),
    organisationData: databases.organisationData,
    admit: tracker.admitOrganisation,
    isCalm: tracker.isCalm,
    checkElement: (type, value, room, hasObjects = false) =>
      (hasObjects ? (restCheck ??= typeChecks(schemas.rest, elements)) : elementCheck)(type)(value, room),
    eventSource: createEventSource(databases, waiting),
    onOverLimit: () => {
      metrics.keyFound('live');
    },
  });
  return { openContext, recognise: bestEffort(recognise), knownKey };
}
