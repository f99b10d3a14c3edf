import type { Logger } from 'pino';
import { type Authenticator, createAuthenticator, type KeySource } from './auth/authenticate';
import { recogniseSome } from './auth/recognise';
import type { Limiters } from './admission/limiters';
import type { Config } from './config';
import { contextFactory, type OpenContext } from './operations/context';
import type { Databases } from './database/connect';
import { createEventSource } from './events/source';
import { eventsOf } from './events/parts';
import { faceOf } from './faces';
import { createGraphqlFace, GRAPHQL_ERRORS } from './graphql';
import { createHealth } from './http/health';
import { AppError } from './errors';
import { createAccessLog } from './http/accessLog';
import { traced } from './http/traced';
import { createBodyMemory } from './admission/bodyMemory';
import { availabilityOf } from './http/availabilityOf';
import { applyCors } from './http/cors';
import type { Exchange } from './http/exchange';
import { failedAuthentications } from './admission/attempts';
import { createRequestTracker } from './admission/requestTracker';
import { PROBLEM, writeError } from './http/problem';
import { checkHead } from './http/target';
import { createTurns } from './admission/turns';
import { noteUnavailable } from './http/unavailable';
import { keyLimiterOf, limitersOf } from './limits';
import { describeError } from './log';
import { toAppError } from './mask';
import { createMcpFace } from './mcp';
import { createMetrics, type Face, type ShedReason } from './metrics';
import { keyLabel } from './metrics/labels';
import { createMetricsPage } from './http/metricsPage';
import type { Control } from './organisations/control';
import { createPages } from './pages';
import { createRecording } from './recording';
import { createRestFace } from './rest';
import { createRunner } from './operations/runner';
import { publishedSchemas } from './published';
import { EVENT_TYPES } from './events/types';
import { createSettings, SETTINGS_GRAPHQL } from './settings';
import type { Schemas } from './operations/build';
import { typeChecks } from './schema/validation';
import type { Tracing } from './tracing';
import { MEBIBYTE } from './units';
import { version } from './package';
import { webhooksOfGateway } from './webhooks/index';
import { webhookSettings } from './webhooks/settings';

export interface GatewayOptions {
  readonly config: Config;
  readonly databases: Databases;
  readonly control: Control;
  readonly logger: Logger;
  /** The demo's key, prefilled in the Sandbox's Authorization header. */
  readonly demoKey?: string;
  /** Number of this worker, if it shares limits and metrics with other workers. */
  readonly worker?: string | undefined;
  /** How many workers share what is set for the whole gateway. */
  readonly workers?: number | undefined;
  /** Traces requests, if they are wanted. */
  readonly tracing?: Tracing;
}

/** What the gateway needs from the server that runs it. */
export interface Carrier {
  readonly isDraining: () => boolean;
  readonly openConnections: () => number;
  /** Maximum duration of a request, in milliseconds. */
  readonly longest: number;
  /** How often a stream costs a point and is sent a comment, in milliseconds. */
  readonly streams: { readonly payEvery: number; readonly commentEvery: number };
}

export async function createGateway(options: GatewayOptions, carrier: Carrier) {
  const { control, logger, tracing } = options;
  const schemas = publishedSchemas();
  const traffic = createTraffic(options, carrier, schemas);
  const { availability, tracker, metrics, bodies, turns } = traffic;
  // before the first request, since connecting takes more round trips than a check, too many if a database is slow later
  await availability.start();
  const limiters = await limitersOf(options, metrics);
  const faces = await createFaces(options, carrier, { schemas, traffic, limiters }).catch(async (error: unknown) => {
    // open, they would keep a failed start from ending
    availability.stop();
    await limiters.close();
    throw error;
  });
  const operations = schemas.operations.map(({ name }) => name);
  const logs = options.config.REQUEST_LOG === 'on';
  const recording = createRecording({ control, logger, metrics, operations, logs });
  const { tails, waiting, webhooks } = traffic;
  options.databases.tend(({ id, cluster }, collection, error) => {
    const where = { organisation_id: id, cluster, collection };
    logger.warn({ ...where, error: describeError(error) }, 'indexes could not be made; run doctor --fix');
  });

  options.databases.limitBytes(options.config.MAX_ORGANISATION_BYTES);
  const accessLog = createAccessLog({ logger, metrics, done: recording.record });

  /** Answers an exchange, also if something fails. */
  async function answer(exchange: Exchange, face: Face, work: () => Promise<void>): Promise<void> {
    const run = tracing && face !== 'operation' ? traced(tracing, exchange, face) : undefined;
    accessLog.watch(exchange, face);
    try {
      checkHead(exchange.request);
      await (run ? run(work) : work());
    } catch (error) {
      const known = toAppError(error);
      if (known.code === 'unavailable') noteUnavailable(exchange, known, error);
      else if (known.status >= 500) {
        const { traceId } = exchange.log;
        const ids = { request_id: exchange.requestId, ...(traceId !== undefined && { trace_id: traceId }) };
        logger.error({ ...ids, code: known.code, error: describeError(error) }, 'request failed');
      }
      exchange.log.code = known.code;
      const isGraphql = face === 'graphql' || exchange.path === SETTINGS_GRAPHQL;
      writeError(exchange, known, isGraphql ? GRAPHQL_ERRORS : PROBLEM);
    }
  }

  return {
    metrics,
    bodies,
    turns,
    tails,
    webhooks,
    handle(exchange: Exchange): Promise<void> {
      const face = faceOf(exchange);
      return answer(exchange, face, () => dispatch(exchange, face, faces));
    },
    /** Ends what would hold up a drain: requests that wait for events, and the recording of them, which another gateway takes over. */
    async beginDrain(): Promise<void> {
      waiting.stop();
      await Promise.all([tails.stop(), webhooks.stop()]);
    },
    /** Answers an exchange at ADMIN_PORT. */
    handleAdmin: (exchange: Exchange): Promise<void> =>
      answer(exchange, 'operation', async () => {
        if ((await faces.health(exchange)) || (await faces.adminMetricsPage(exchange))) return;
        throw new AppError('not_found', 'This port has GET /livez, /readyz and /metrics.');
      }),
    /** After the drain. */
    async stop(): Promise<void> {
      availability.stop();
      tracker.stop();
      accessLog.stop();
      await recording.stop();
      await faces.graphql.stop();
      await limiters.close();
    },
  };
}

type Traffic = ReturnType<typeof createTraffic>;

/** What limits and counts the requests in progress. */
function createTraffic(
  { config, databases, control, logger, worker, workers = 1 }: GatewayOptions,
  carrier: Carrier,
  { operations }: Schemas,
) {
  const onShed = (reason: ShedReason): void => {
    metrics.requestShed(reason);
  };
  const bodyMemory = config.MAX_BODY_MEMORY * MEBIBYTE;
  const bodies = createBodyMemory(bodyMemory, onShed.bind(undefined, 'bodies'), bodyMemory * workers);
  const turns = createTurns(() => {
    onShed('organisation');
  });
  const { clusters, clocks, lostAt, quotas } = databases;
  const availability = availabilityOf(databases, logger);
  const tracker = createRequestTracker<Exchange>({
    ...{ availability, clusters, lostAt, onShed },
    longest: carrier.longest,
    onEnd: (exchange) => {
      bodies.release(exchange);
      turns.end(exchange);
    },
  });
  const metrics = createMetrics({
    operations: operations.map(({ name }) => name),
    pools: databases.pools,
    openConnections: carrier.openConnections,
    requestsInFlight: tracker.inFlight,
    clusters: () =>
      clusters.map((cluster) => ({
        cluster,
        isUp: !availability.isAway(cluster),
        isWritable: !availability.isAway(cluster) && !availability.isReadOnly(cluster),
      })),
    bodyBytes: bodies.held,
    worker,
    ...{ clocks, quotas, version },
    files: control.placement.lastKnown,
    moves: control.moving.counts,
    bytesLimit: config.MAX_ORGANISATION_BYTES,
    tails: () => tails.states(),
    waiting: () => waiting.counts(),
    webhooks: () => webhooks,
    webhookEndpoints: control.webhooks.counts,
  });
  const { isAway } = availability;
  const webhooks = webhooksOfGateway({ config, databases, control, logger, isAway, onOutcome: metrics.webhookSent });
  const { waiting, tails } = eventsOf({
    ...{ databases, feeds: control.feeds, logger, onWritten: metrics.eventsRecorded, onStored: webhooks.wake },
    ...carrier.streams,
  });
  databases.giveWayTo(tracker.hasOthers);
  return { webhooks, bodies, turns, availability, tracker, metrics, waiting, tails };
}

interface Parts {
  readonly schemas: Schemas;
  readonly traffic: Traffic;
  readonly limiters: Limiters;
}

/** Finds whose a request is by its key, the same for all APIs. */
function authenticatorOf({ config, databases, control }: GatewayOptions, { traffic, limiters }: Parts): Authenticator {
  const { tracker, metrics } = traffic;
  const { apiKeys } = control;
  // the key lookup is the first query of a request, so the request is admitted before it
  const admitted: KeySource = {
    find(id) {
      tracker.admit();
      return apiKeys.find(id);
    },
    markUsed: apiKeys.markUsed,
    rehash: apiKeys.rehash,
  };
  return createAuthenticator({
    apiKeys: admitted,
    keyPrefix: config.KEY_PREFIX,
    pepper: config.KEY_PEPPER,
    previousPepper: config.KEY_PEPPER_PREVIOUS,
    now: databases.now,
    countFailure: failedAuthentications(metrics.counted('address', limiters.failures)),
    onFound: (found) => {
      metrics.keyFound(keyLabel(found, databases.now()));
    },
  });
}

/** The context of requests with a key, the same for all APIs. */
function keyContexts(
  { config, databases }: GatewayOptions,
  { schemas, traffic, limiters }: Parts,
  { authenticate }: Authenticator,
): OpenContext {
  const { tracker, metrics, waiting } = traffic;
  const elementCheck = typeChecks(schemas.graphql, { elementBounds: true, closed: false });
  return contextFactory({
    authenticate,
    limiter: keyLimiterOf(limiters, metrics),
    organisationData: databases.organisationData,
    admit: tracker.admitOrganisation,
    checkElement: (type, ...args) => elementCheck(type)(...args),
    eventSource: createEventSource({ ...databases, control: config.CONTROL_DATABASE, waiting }),
    onOverLimit: () => {
      metrics.keyFound('live');
    },
  });
}

type Faces = Awaited<ReturnType<typeof createFaces>>;

/** The parts that answer requests. */
async function createFaces(options: GatewayOptions, carrier: Carrier, parts: Parts) {
  const { config, databases, control, logger, demoKey } = options;
  const { schemas, traffic, limiters } = parts;
  const { tracker, metrics } = traffic;
  const { operations } = schemas;
  const keys = authenticatorOf(options, parts);
  const [recognise, publicUrl] = [recogniseSome(keys.recognise), config.PUBLIC_URL];
  const runner = createRunner(schemas, metrics.answerWritable);
  const openContext = keyContexts(options, parts, keys);
  const logError = (message: string) => (error: unknown) => {
    logger.error({ error: describeError(error) }, message);
  };
  const routeMethods = operations.flatMap(({ rest }) => rest?.method ?? []);
  return {
    tracker,
    cors: { origins: config.CORS_ORIGINS, methods: [...new Set(['GET', 'HEAD', 'POST', ...routeMethods])] },
    health: createHealth(databases, traffic.availability, limiters, carrier.isDraining),
    metricsPage: createMetricsPage(metrics, config.ADMIN_PORT === undefined ? config.METRICS : 'off'),
    adminMetricsPage: createMetricsPage(metrics, config.METRICS === 'off' ? 'off' : 'public'),
    rest: createRestFace({ runner, openContext, recognise, publicUrl }),
    graphql: await createGraphqlFace({
      ...{ schema: schemas.graphql, operations, openContext, logger, introspection: config.INTROSPECTION },
      onFastRead: metrics.answerWritable,
      introspectionLimiter: metrics.counted('introspection', limiters.introspection),
      commentEvery: carrier.streams.commentEvery,
    }),
    mcp: createMcpFace({ runner, openContext, origins: config.CORS_ORIGINS }),
    settings: createSettings({
      config,
      control,
      organisationData: databases.organisationData,
      tracker,
      webhooks: traffic.webhooks.ofUser,
      limiter: metrics.counted('user', limiters.keys),
      failures: metrics.counted('address', limiters.failures),
      webhookPart: {
        types: EVENT_TYPES.map(({ name }) => name),
        canMake: webhookSettings(config).master !== undefined,
      },
      onError: logError('settings failed'),
    }),
    pages: createPages({ demoKey, introspection: config.INTROSPECTION, onError: logError('page failed') }),
  };
}

/** Answers a request, in order: health, metrics, settings, pages, CORS, REST, GraphQL, MCP. */
async function dispatch(exchange: Exchange, face: Face, faces: Faces): Promise<void> {
  const { request, response, path } = exchange;
  const { tracker, rest, graphql, mcp, settings } = faces;
  if ((await faces.health(exchange)) || (await faces.metricsPage(exchange))) return;
  if (path === SETTINGS_GRAPHQL) {
    if (request.method !== 'POST') {
      throw new AppError('method_not_allowed', 'Only POST is allowed.', { allow: ['POST'] });
    }
    await tracker.run(exchange, () => graphql.handle(exchange, settings.openContext));
  } else if (face === 'settings') {
    settings.serve(exchange);
  } else if (face !== 'rest' && face !== 'graphql' && face !== 'mcp') {
    faces.pages(request as never, response as never);
  } else if (!applyCors(exchange, { ...faces.cors, isGraphql: face === 'graphql' })) {
    const answers = { rest, mcp, graphql: graphql.handle };
    await tracker.run(exchange, () => answers[face](exchange));
  }
}
