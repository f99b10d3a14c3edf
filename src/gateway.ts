import type { Logger } from 'pino';
import { createBodyMemory } from './admission/bodyMemory';
import { createRequestTracker } from './admission/requestTracker';
import { createTurns } from './admission/turns';
import { keyCallers, openGatewayLimiters } from './callers';
import type { Config } from './config';
import { type Availability, createAvailability } from './database/availability';
import { WRONG_BY } from './database/clock';
import type { Databases } from './database/connect';
import { createTails } from './events/tail/tail';
import { createWaiting } from './events/waiting';
import { createFaces, faceOf, isOperator, OPERATOR_GRAPHQL } from './faces';
import { createJobWorker } from './jobs/worker';
import { GRAPHQL_ERRORS } from './graphql';
import { type Exchange, noteUnavailable } from './http/exchange';
import { PROBLEM, writeError } from './http/problem';
import { checkHead } from './http/requestHead';
import { describeError } from './log';
import { toAppError } from './mask';
import { createMetrics, type Face, type ShedReason } from './metrics';
import type { Control } from './organisations/control';
import { publishedSchemas } from './published';
import { createRecording, traced } from './recording';
import { operatorModel } from './schema/model';
import { SETTINGS_GRAPHQL } from './settings';
import type { Tracing } from './tracing';
import { MEBIBYTE } from './units';
import { version } from './package';
import { webhooksOfGateway } from './webhooks/index';

export interface GatewayOptions {
  readonly config: Config;
  readonly databases: Databases;
  readonly control: Control;
  readonly logger: Logger;
  /** The demo's key, prefilled in the Sandbox's Authorization header. */
  readonly demoKey?: string;
  /** Undefined if requests are not traced. */
  readonly tracing?: Tracing;
}

/** Paths of other faces whose errors are also written in GraphQL's format. */
const GRAPHQL_PATHS: readonly string[] = [SETTINGS_GRAPHQL, OPERATOR_GRAPHQL];

/** What the gateway needs from the server that runs it. */
interface GatewayHost {
  readonly isDraining: () => boolean;
  readonly openConnections: () => number;
  /** Maximum duration of a request, in milliseconds. */
  readonly longest: number;
  /** Intervals at which a stream costs a point and gets a comment, in milliseconds. */
  readonly streams: { readonly payEvery: number; readonly commentEvery: number };
}

export async function createGateway(options: GatewayOptions, host: GatewayHost) {
  const { config, databases, control, logger, demoKey, tracing } = options;
  const { isDraining, streams } = host;
  const schemas = publishedSchemas();
  const hasOperators = config.OPERATOR_TOKENS.length > 0;
  const jobs = createJobWorker({ databases, control, logger });
  const declared = [...schemas.operations, ...(hasOperators ? operatorModel().operations : [])];
  const operations = declared.map(({ name }) => name);
  const traffic = createTraffic(options, host, operations);
  const { availability, tracker, metrics, bodies, turns, waiting, tails, webhooks } = traffic;
  // connects now, since connecting takes more round trips than a check: too many once a database is slow
  await availability.start();
  const limiters = await openGatewayLimiters(options, metrics);
  const callers = keyCallers({ config, databases, control, schemas, tracker, metrics, limiters, waiting });
  const faces = await createFaces({
    ...{ config, databases, control, logger, demoKey, schemas, availability, tracker, metrics, limiters, isDraining },
    ...{ ...callers, webhooks, jobs, commentEvery: streams.commentEvery },
  }).catch((error: unknown) => {
    // left open, they would keep the process alive after a failed start
    availability.stop();
    limiters.close();
    throw error;
  });
  const recording = createRecording({ control, logger, metrics, operations, logs: config.REQUEST_LOG === 'on' });
  databases.tend(({ id, cluster }, collection, error) => {
    const where = { organisation_id: id, cluster, collection };
    logger.warn({ ...where, error: describeError(error) }, 'indexes could not be made; run doctor --fix');
  });
  databases.limitBytes(config.MAX_ORGANISATION_BYTES);
  databases.giveWayTo((organisationId) => tracker.hasOthers(organisationId));

  /** Answers an exchange by running its work, or with an error if that fails. */
  async function answer(exchange: Exchange, face: Face, work: () => Promise<void>): Promise<void> {
    const run = tracing && face !== 'operation' ? traced(tracing, exchange, face) : undefined;
    recording.watch(exchange, face);
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
      const isGraphql = face === 'graphql' || GRAPHQL_PATHS.includes(exchange.path);
      writeError(exchange, known, isGraphql ? GRAPHQL_ERRORS : PROBLEM);
    }
  }

  return {
    ...{ metrics, bodies, turns, tails, webhooks, jobs },
    handle(exchange: Exchange): Promise<void> {
      const isOpen = config.ADMIN_PORT === undefined && hasOperators;
      const face = isOpen && isOperator(exchange.path) ? 'operator' : faceOf(exchange);
      return answer(exchange, face, () => faces.answer(exchange, face));
    },
    /** Answers an exchange at ADMIN_PORT. */
    handleAdmin(exchange: Exchange): Promise<void> {
      const face = hasOperators && isOperator(exchange.path) ? 'operator' : 'operation';
      return answer(exchange, face, () => faces.answerAdmin(exchange, face));
    },
    /** Ends whatever would delay the drain: requests that wait for events, and background work that other gateways take over. */
    async beginDrain(): Promise<void> {
      waiting.stop();
      await Promise.all([tails.stop(), webhooks.stop(), jobs.stop()]);
    },
    /** Stops everything else, after the drain. */
    async stop(): Promise<void> {
      availability.stop();
      tracker.stop();
      await recording.stop();
      await faces.stop();
      limiters.close();
    },
  };
}

/** What limits and counts requests in progress, and the background work. */
function createTraffic(
  { config, databases, control, logger }: GatewayOptions,
  { longest, openConnections, streams }: GatewayHost,
  operations: readonly string[],
) {
  const onShed = (reason: ShedReason): void => {
    metrics.requestShed(reason);
  };
  const bodyMemory = config.MAX_BODY_MEMORY * MEBIBYTE;
  const bodies = createBodyMemory(bodyMemory, onShed.bind(undefined, 'bodies'));
  const turns = createTurns(onShed.bind(undefined, 'organisation'));
  const { clusters, clocks, lostAt, quotas } = databases;
  const availability = availabilityOf(databases, logger);
  const { isAway, isReadOnly } = availability;
  const tracker = createRequestTracker<Exchange>({
    ...{ availability, clusters, lostAt, onShed, longest },
    onEnd: (exchange) => {
      bodies.end(exchange);
      turns.end(exchange);
    },
  });
  const metrics = createMetrics({
    ...{ operations, clocks, quotas, version, openConnections },
    pools: databases.pools,
    requestsInFlight: tracker.inFlight,
    clusters: () =>
      clusters.map((cluster) => ({
        cluster,
        isUp: !isAway(cluster),
        isWritable: !isAway(cluster) && !isReadOnly(cluster),
      })),
    bodyBytes: bodies.held,
    files: control.placement.lastKnown,
    moves: control.moving.counts,
    jobs: control.jobs.counts,
    bytesLimit: config.MAX_ORGANISATION_BYTES,
    tails: () => tails.states(),
    waiting: () => waiting.counts(),
    webhooks: () => webhooks,
    webhookEndpoints: control.webhooks.lastCounts,
  });
  const webhooks = webhooksOfGateway({ config, databases, control, logger, isAway, onOutcome: metrics.webhookSent });
  const waiting = createWaiting({ streams: databases.streams, logger, payEvery: streams.payEvery });
  const stored = { onWritten: metrics.eventsRecorded, onStored: webhooks.wake };
  const tails = createTails({ databases, feeds: control.feeds, logger, ...stored });
  return { webhooks, bodies, turns, availability, tracker, metrics, waiting, tails };
}

/** Which clusters respond; each change is logged. */
function availabilityOf(databases: Databases, logger: Logger): Availability {
  const watchClocks = clockWatch(databases, logger);
  return createAvailability({
    ...{ clusters: databases.clusters, away: databases.away },
    answers: async (cluster) => {
      const isThere = await databases.answers(cluster);
      watchClocks();
      return isThere;
    },
    onChange: (cluster, isAway) => {
      const [state, says] = isAway ? ['unavailable', 'is not responding'] : ['ok', 'is responding again'];
      logger.warn({ cluster, database: state }, `the database cluster ${cluster} ${says}`);
    },
    write: databases.tryWriting,
    onWrites: (cluster, failure) => {
      const fields = { cluster, database: failure === undefined ? 'ok' : 'read_only' };
      if (failure === undefined) logger.warn(fields, `the database cluster ${cluster} can be written to again`);
      else
        logger.warn(
          { ...fields, error: describeError(failure) },
          `the database cluster ${cluster} responds but cannot be written to`,
        );
    },
  });
}

/** Logs when a cluster's clock and this machine's start to differ, and when they agree again. */
function clockWatch({ clocks }: Pick<Databases, 'clocks'>, logger: Logger): () => void {
  const wrong = new Set<string>();
  return () => {
    for (const { cluster, ahead, machine } of clocks()) {
      const isWrong = Math.abs(ahead) >= WRONG_BY;
      if (isWrong === wrong.has(cluster)) continue;
      if (isWrong) wrong.add(cluster);
      else wrong.delete(cluster);
      const difference = { cluster, machine, ahead_seconds: Math.round(ahead / 1000) };
      if (isWrong)
        logger.warn(difference, 'the clock of the database and that of this machine differ; see scopegate doctor');
      else logger.info(difference, 'the clock of the database and that of this machine agree again');
    }
  };
}
