import type { Logger } from 'pino';
import { type Limiters, openLimiters } from '../admission/limiters';
import { createFailureCounter, createKeyRateLimiter, type KeyBudgets } from '../admission/rateLimit';
import type { RequestTracker } from '../admission/requestTracker';
import { createShares } from '../async/shares';
import { addressBucket } from '../auth/addresses';
import { createAuthenticator } from '../auth/authenticate';
import { createBestEffortRecognise } from '../auth/recognise';
import type { Plans } from '../auth/plans';
import type { Organisation } from '../auth/principal';
import type { Config } from '../config';
import type { Databases } from '../tenant/databases';
import { AppError } from '../errors';
import { createEventSource } from '../events/source';
import type { Waiting } from '../events/waiting';
import { KEY_LOOKUPS } from '../limits';
import { redact } from '../log';
import { keyLabel, type Metrics } from '../metrics';
import { createOpenContext } from '../operations/openContext';
import type { Schemas } from '../operations/build';
import type { Control } from '../organisations/control';
import { typeChecks } from '../schema/validation';

/* Authentication and rate limits of API keys, shared by all APIs. */

interface LimitersOptions {
  readonly config: Pick<Config, 'REDIS_URL' | 'RATE_LIMIT_PER_MINUTE' | 'INSTANCES'>;
  readonly logger: Logger;
}

/** Opens the limiters of a gateway. Whether they are shared is in the log and the metrics. */
export function openGatewayLimiters({ config, logger }: LimitersOptions, metrics: Metrics): Promise<Limiters> {
  metrics.limiterStore(config.REDIS_URL === undefined ? 'memory' : 'shared');
  return openLimiters({
    limit: config.RATE_LIMIT_PER_MINUTE,
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
  readonly logger: Logger;
}

/**
 * `openContext` opens the contexts of requests with a key; `recognise` identifies the callers of unknown routes, and `knownKey` those whose key
 * cannot be read, both for the log.
 */
export function createKeyCallers(options: CallersOptions) {
  const { config, databases, control, schemas, tracker, metrics, limiters, waiting, logger } = options;
  const { apiKeys, plans } = control;
  const lookups = createShares(KEY_LOOKUPS);
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
    appPrefix: config.KEY_PREFIX_APP,
    pepper: config.KEY_PEPPER,
    previousPepper: config.KEY_PEPPER_PREVIOUS,
    now: databases.now,
    holdLookup(address) {
      const release = lookups.take({ caller: addressBucket(address) });
      if (release) return release;
      throw new AppError('unavailable', 'Too many requests from this address are in progress.', { reason: 'shed' });
    },
    countFailure: createFailureCounter(metrics.counted('address', limiters.failures)),
    onFound: (storedKey) => {
      metrics.keyFound(keyLabel(storedKey, databases.now()));
    },
  });
  const elements = { elementBounds: true, closed: false };
  const elementCheck = typeChecks(schemas.graphql, elements);
  // made on first use: only elements that came by REST or MCP, where metadata is an object, have it
  let restCheck: typeof elementCheck | undefined;
  const openContext = createOpenContext({
    authenticate,
    plans,
    onUnknownPlan: unknownPlanLog(logger),
    limiter: createKeyRateLimiter(budgetsByPlan(plans, limiters, metrics)),
    organisationData: databases.organisationData,
    admit: tracker.admitOrganisation,
    isCalm: tracker.isCalm,
    checkElement: (type, value, limits, hasObjects = false) =>
      (hasObjects ? (restCheck ??= typeChecks(schemas.rest, elements)) : elementCheck)(type)(value, limits),
    eventSource: createEventSource(databases, waiting),
    // rejected without a lookup, so that `onFound` does not count it; `live` is the metric's word for an active key, of a sandbox, too
    onOverLimit: () => {
      metrics.keyFound('live');
    },
  });
  return { openContext, recognise: createBestEffortRecognise(recognise), knownKey };
}

/** Returns a function that finds the budgets of an organisation's plan. */
function budgetsByPlan(plans: Plans, limiters: Limiters, { counted }: Pick<Metrics, 'counted'>) {
  const budgetsOf = (points: Parameters<Limiters['withPoints']>[0]): KeyBudgets => {
    const { keys, organisations } = limiters.withPoints(points);
    return { keys: counted('key', keys), organisations: counted('organisation', organisations) };
  };
  const byPlan = new Map(plans.all.map((plan) => [plan.name, budgetsOf(plan)]));
  const others = budgetsOf(plans.unknown);
  return ({ plan }: Organisation): KeyBudgets => byPlan.get(plan) ?? others;
}

/** How many plans that PLANS_FILE lacks are named in the log: they come from rows, so there may be any number. */
const MAX_NAMED = 50;

/** Returns a function that logs each plan once whose organisations are refused, since PLANS_FILE lacks it. */
function unknownPlanLog(logger: Logger): (organisation: Organisation) => void {
  const named = new Set<string>();
  return ({ id, plan }) => {
    if (named.has(plan) || named.size >= MAX_NAMED) return;
    named.add(plan);
    const where = { organisation_id: id, plan };
    logger.warn(
      where,
      'the plan of an organisation is not in PLANS_FILE: its keys get 403 plan_required; see scopegate doctor',
    );
  };
}
