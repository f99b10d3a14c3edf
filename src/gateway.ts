import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { createAuthenticator, type KeySource } from './access/authenticate';
import { openLimiters } from './access/limiters';
import type { Config } from './config';
import { contextFactory } from './context';
import type { Databases } from './database/connect';
import { createGraphqlFace, GRAPHQL_ERRORS, GRAPHQL_PATH } from './graphql';
import { createHealth, isHealthPath } from './http/health';
import { AppError } from './errors';
import { CALLER_LEFT } from './http/accessLog';
import { type BodyMemory, createBodyMemory } from './http/bodyMemory';
import { applyCors } from './http/cors';
import type { Exchange } from './http/exchange';
import { createPatience, type Patience } from './http/patience';
import { PROBLEM, writeError } from './http/problem';
import { createTurns, type Turns } from './http/turns';
import { describeError, redact } from './log';
import { toAppError } from './mask';
import { createMetrics, type Face, type Metrics } from './metrics';
import { countKeys } from './metrics/keys';
import { createMetricsPage, METRICS_PATH } from './http/metricsPage';
import type { Control } from './organisations/control';
import { createUsageCounter } from './organisations/usageCounter';
import { createPages } from './pages';
import { createRestFace, REST_BASE } from './rest';
import { publishedSchemas } from './published';
import { createSettings, isSettings, sessionCookieOf, SETTINGS_GRAPHQL } from './settings';
import { userContextFactory } from './settings/userContext';
import { typeChecks } from './schema/validation';
import { version } from './version';

export interface GatewayOptions {
  readonly config: Config;
  readonly databases: Databases;
  readonly control: Control;
  readonly logger: Logger;
  /** The demo's key, prefilled in the Sandbox's Authorization header. */
  readonly demoKey?: string;
}

/** What the gateway needs from the server that runs it. */
export interface Carrier {
  readonly isDraining: () => boolean;
  readonly openConnections: () => number;
  /** Maximum duration of a request, in milliseconds. */
  readonly longest: number;
}

export interface Gateway {
  readonly metrics: Metrics;
  readonly bodies: BodyMemory;
  readonly turns: Turns;
  /** Answers an exchange, also if something fails. */
  handle(exchange: Exchange): Promise<void>;
  /** Called for each exchange when it is done. */
  readonly finished: (exchange: Exchange, status: number) => void;
  stop(): Promise<void>;
}

const MEBIBYTE = 1024 * 1024;

/** Dispatches requests, in order: health, metrics, settings, pages, CORS, REST, GraphQL. */
export async function createGateway(options: GatewayOptions, carrier: Carrier): Promise<Gateway> {
  const { config, databases, control, logger, demoKey } = options;
  const { graphql, rest, operations } = publishedSchemas();
  const elementCheck = typeChecks(graphql, { elementBounds: true, closed: false });
  const bodies = createBodyMemory(config.MAX_BODY_MEMORY * MEBIBYTE, () => {
    metrics.requestShed('bodies');
  });
  const turns = createTurns(() => {
    metrics.requestShed('organisation');
  });
  const patience = createPatience({
    longest: carrier.longest,
    answers: databases.answers,
    lostAt: databases.lostAt,
    onShed: () => {
      metrics.requestShed('database');
    },
    onOverShare: () => {
      metrics.requestShed('organisation');
    },
    onEnd: (exchange) => {
      bodies.release(exchange);
      turns.end(exchange);
    },
    onChange: (isAway) => {
      logger.warn(
        { database: isAway ? 'unavailable' : 'ok' },
        `the database ${isAway ? 'is not responding' : 'is responding again'}`,
      );
    },
  });
  databases.giveWayTo(patience.hasOthers);
  // connect the database check now, because connecting takes more round trips than a check, too many if the database is slow later
  void databases.answers();
  const metrics = createMetrics({
    operations: operations.map(({ name }) => name),
    pools: databases.pools,
    openConnections: carrier.openConnections,
    requestsInHand: patience.inHand,
    bodyBytes: bodies.held,
  });
  metrics.limiterStore(config.REDIS_URL === undefined ? 'memory' : 'shared');
  const limiters = await openLimiters({
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
  const openContext = contextFactory({
    authenticate: countKeys(metrics, admitted(control.apiKeys, patience), (apiKeys) =>
      createAuthenticator({
        apiKeys,
        keyPrefix: config.KEY_PREFIX,
        pepper: config.KEY_PEPPER,
        failures: metrics.counted('address', limiters.failures),
      }),
    ),
    limiter: metrics.counted('key', limiters.keys),
    organisationData: databases.organisationData,
    admit: patience.admitOrganisation,
    checkElement: (type, element) => elementCheck(type)(element),
    onSpentKey: () => {
      metrics.keyFound('live');
    },
  });
  const methods = [
    ...new Set(['GET', 'HEAD', 'POST', ...operations.flatMap(({ rest: route }) => route?.method ?? [])]),
  ];
  const restFace = createRestFace({ schema: rest, operations, openContext });
  const graphqlFace = await createGraphqlFace({
    schema: graphql,
    operations,
    openContext,
    introspection: config.INTROSPECTION,
    introspectionLimiter: metrics.counted('address', limiters.introspection),
    logger,
  });
  const sessionCookie = sessionCookieOf(config);
  const openUserContext = userContextFactory({
    control,
    sessionCookie,
    publicUrl: config.PUBLIC_URL,
    limiter: metrics.counted('user', limiters.keys),
    organisationData: databases.organisationData,
  });
  const settings = createSettings({
    ...{ config, control, version, patience, sessionCookie, failures: metrics.counted('address', limiters.failures) },
    onError: (error) => {
      logger.error({ error: describeError(error) }, 'settings failed');
    },
  });
  const usage = createUsageCounter({
    usage: control.usage,
    onError: (error) => {
      logger.warn({ error: describeError(error) }, 'writing usage failed; will retry');
    },
  });
  const health = createHealth({ databases, limiters, isDraining: carrier.isDraining });
  const metricsPage = createMetricsPage(metrics, config.METRICS);
  const pages = createPages({
    ...(demoKey === undefined ? {} : { demoKey }),
    version,
    introspection: config.INTROSPECTION,
    onError: (error) => {
      logger.error({ error: describeError(error) }, 'page failed');
    },
  });

  async function dispatch(exchange: Exchange): Promise<void> {
    if ((await health(exchange)) || (await metricsPage(exchange))) return;
    const face = faceOf(exchange);
    if (exchange.path === SETTINGS_GRAPHQL) {
      if (exchange.request.method !== 'POST') {
        throw new AppError('method_not_allowed', 'Only POST is allowed.', { allow: ['POST'] });
      }
      await patience.spend(exchange, () => graphqlFace.handle(exchange, openUserContext));
      return;
    }
    if (face === 'settings') {
      settings(exchange);
      return;
    }
    if (face !== 'rest' && face !== 'graphql') {
      pages(exchange.request as never, exchange.response as never);
      return;
    }
    if (applyCors(exchange, { origins: config.CORS_ORIGINS, methods, isGraphql: face === 'graphql' })) return;
    await patience.spend(exchange, () => (face === 'rest' ? restFace(exchange) : graphqlFace.handle(exchange)));
  }

  return {
    metrics,
    bodies,
    turns,
    async handle(exchange) {
      try {
        await dispatch(exchange);
      } catch (error) {
        const known = toAppError(error);
        if (known.status >= 500) {
          // the code says everything about an intentional error; its stack would only cost time if many are rejected
          const failure = error === known ? {} : { error: describeError(error) };
          logger.error({ request_id: exchange.requestId, code: known.code, ...failure }, 'request failed');
        }
        exchange.log.code = known.code;
        writeError(exchange, known, speaksGraphql(exchange) ? GRAPHQL_ERRORS : PROBLEM);
      }
    },
    finished({ log: { principal, code } }, status) {
      if (principal?.kind !== 'key') return;
      const isError = code !== undefined || (status >= 400 && status !== CALLER_LEFT);
      usage.count(principal.key.id, status === 429 ? 'rate_limited' : isError ? 'error' : 'ok');
    },
    stop: async () => {
      patience.stop();
      await usage.stop();
      await graphqlFace.stop();
      await limiters.close();
    },
  };
}

/** Wraps the key lookup, the first query of a request, to admit the request first. */
function admitted(apiKeys: KeySource, patience: Patience): KeySource {
  return {
    find(id) {
      patience.admit();
      return apiKeys.find(id);
    },
    markUsed: (key, address) => {
      apiKeys.markUsed(key, address);
    },
  };
}

function speaksGraphql(exchange: Exchange): boolean {
  return exchange.path === SETTINGS_GRAPHQL || faceOf(exchange) === 'graphql';
}

/** Which part handles a request: a browser that opens /graphql gets a page, everything else there is GraphQL. */
export function faceOf({ path, search, request }: Exchange): Face {
  if (path === GRAPHQL_PATH) return isBrowserVisit(request, search) ? 'pages' : 'graphql';
  if (isHealthPath(path) || path === METRICS_PATH) return 'operation';
  if (isSettings(path)) return 'settings';
  const isRest = path === REST_BASE || path.startsWith(`${REST_BASE}/`);
  return isRest && !isDocs(path) ? 'rest' : 'pages';
}

function isDocs(path: string): boolean {
  return path === `${REST_BASE}/docs` || path.startsWith(`${REST_BASE}/docs/`);
}

function isBrowserVisit({ method, headers }: IncomingMessage, search: string): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead && (headers.accept ?? '').includes('text/html') && !/[?&]query=/.test(search);
}
