import type { Logger } from 'pino';
import { createBodyMemory } from '../admission/bodyMemory';
import { createRequestQueue } from '../admission/requestQueue';
import { createRequestTracker } from '../admission/requestTracker';
import { createKeyCallers, openGatewayLimiters } from './callers';
import type { Config } from '../config';
import { type Availability, createAvailability } from '../mongo/availability';
import { WRONG_BY } from '../mongo/clock';
import { isUnavailable } from '../mongo/faults';
import type { Databases } from '../tenant/databases';
import { createRecordedAge } from '../events/tail/recordedAge';
import { createTail } from '../events/tail/tail';
import { createWaiting } from '../events/waiting';
import { createApis } from './apis';
import { createJobWorker } from '../jobs/worker';
import { WRITE_LINES } from '../operator/writeLines';
import { type Exchange, noteUnavailable } from '../http/exchange';
import { writeError } from '../http/problem';
import { checkHead } from '../http/requestHead';
import { createFailureLog, describeError } from '../log';
import { toAppError } from '../mongo/toAppError';
import { createMetrics, type ShedReason } from '../metrics';
import type { Control } from '../organisations/control';
import { entryOf, type PathEntry } from './paths';
import { publishedSchemas } from './schemas';
import { createRecording, beginSpan } from './recording';
import { corrector } from '../resources/corrector';
import { routesOf } from '../schema/attachables';
import { operatorModel, published } from '../schema/model';
import type { Tracing } from '../tracing';
import { MEBIBYTE } from '../units';
import { version } from '../package';
import { createWebhooks } from '../webhooks/index';

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

/** What the gateway needs from the server that runs it. */
interface GatewayHost {
  readonly isDraining: () => boolean;
  readonly openConnections: () => number;
  /** Maximum duration of a request, in milliseconds. */
  readonly maxDuration: number;
  /** Intervals at which a stream costs a point and gets a comment, in milliseconds. */
  readonly streams: { readonly payEvery: number; readonly commentEvery: number };
}

export async function createGateway(options: GatewayOptions, host: GatewayHost) {
  const { config, databases, control, logger, demoKey, tracing } = options;
  const { isDraining, streams } = host;
  const schemas = publishedSchemas();
  const hasOperators = config.OPERATOR_TOKENS.length > 0;
  const jobs = createJobWorker({ databases, control, logger });
  const declaredOperations = [...schemas.operations, ...(hasOperators ? operatorModel().operations : [])];
  const attachmentRoutes = published.attachables.flatMap(routesOf);
  const operations = [
    ...[...declaredOperations, ...attachmentRoutes].map(({ name }) => name),
    ...(hasOperators ? [WRITE_LINES] : []),
  ];
  const traffic = createTraffic(options, host, operations);
  const { availability, shardHealth, tracker, metrics, bodies, queue, waiting, tail, webhooks } = traffic;
  // connects now, since connecting takes more round trips than a check: too many once a database is slow
  await availability.start();
  await shardHealth?.start();
  const limiters = await openGatewayLimiters(options, metrics);
  const { knownKey, ...callers } = createKeyCallers({
    config,
    databases,
    control,
    schemas,
    tracker,
    metrics,
    limiters,
    waiting,
    logger,
  });
  const apis = await createApis({
    ...callers,
    config,
    databases,
    control,
    logger,
    demoKey,
    schemas,
    availability,
    shardHealth,
    tracker,
    metrics,
    limiters,
    isDraining,
    webhooks,
    waiting,
    jobs,
    commentEvery: streams.commentEvery,
  }).catch((error: unknown) => {
    // left open, they would keep the process alive after a failed start
    availability.stop();
    shardHealth?.stop();
    limiters.close();
    throw error;
  });
  const logFailure = createFailureLog(logger);
  const recording = createRecording({
    ...{ control, logger, metrics, operations, knownKey },
    logs: config.REQUEST_LOG === 'on',
  });
  databases.maintainIndexes({
    onFailure: (id, collection, error) => {
      const where = { organisation_id: id, collection };
      if (isUnavailable(error))
        logFailure('indexes could not be looked at or made: the database did not respond', error, where);
      else logger.warn({ ...where, error: describeError(error) }, 'indexes could not be made; run doctor --fix');
    },
    onWidened: (id, collection) => {
      const where = { organisation_id: id, collection };
      logger.warn(
        where,
        'the validator allows what this version writes, too; run doctor --fix once no gateway has another',
      );
    },
  });
  databases.limitBytes((plan) => control.plans.of({ plan }).bytes);
  databases.yieldWhile((organisationId) => tracker.hasOthers(organisationId));

  /** Answers an exchange by running its work, or with an error if that fails. */
  async function answer(exchange: Exchange, { face, errors }: PathEntry, work: () => Promise<void>): Promise<void> {
    const run = tracing && face !== 'operation' ? beginSpan(tracing, exchange, face) : undefined;
    recording.watch(exchange, face);
    try {
      checkHead(exchange.request);
      await (run ? run(work) : work());
    } catch (error) {
      const appError = toAppError(error);
      if (appError.code === 'unavailable') noteUnavailable(exchange, appError, error);
      else if (appError.status >= 500) {
        const { traceId } = exchange.log;
        const ids = { request_id: exchange.requestId, ...(traceId !== undefined && { trace_id: traceId }) };
        logger.error({ ...ids, code: appError.code, error: describeError(error) }, 'request failed');
      }
      exchange.log.code = appError.code;
      if (appError.code === 'unauthenticated') apis.challenge(exchange, face);
      writeError(exchange, appError, errors);
    }
  }

  return {
    metrics,
    bodies,
    queue,
    tail,
    webhooks,
    jobs,
    handle(exchange: Exchange): Promise<void> {
      const entry = entryOf(exchange, { hasOperators: hasOperators && config.ADMIN_PORT === undefined });
      return answer(exchange, entry, () => apis.answer(exchange, entry));
    },
    /** Answers an exchange at ADMIN_PORT. */
    handleAdmin(exchange: Exchange): Promise<void> {
      const entry = entryOf(exchange, { hasOperators, isAdmin: true });
      return answer(exchange, entry, () => apis.answerAdmin(exchange, entry));
    },
    /** What is in progress: requests, those of them that wait for events, and open streams of events. */
    inHand() {
      const { requests: waitingRequests, streams: open } = waiting.counts();
      return { requests: tracker.inFlight(), waiting_requests: waitingRequests, streams: open };
    },
    /** Ends whatever would delay the drain: requests that wait for events, and background work that other gateways take over. */
    async beginDrain(): Promise<void> {
      waiting.stop();
      await Promise.all([tail.stop(), webhooks.stop(), jobs.stop()]);
    },
    /** Stops everything else, after the drain. */
    async stop(): Promise<void> {
      availability.stop();
      shardHealth?.stop();
      tracker.stop();
      await recording.stop();
      await apis.stop();
      limiters.close();
    },
  };
}

/** What limits and counts requests in progress, and the background work. Metrics and what they count refer to each other, so both are made here. */
function createTraffic(
  { config, databases, control, logger }: GatewayOptions,
  { maxDuration, openConnections, streams }: GatewayHost,
  operations: readonly string[],
) {
  const onShed = (reason: ShedReason): void => {
    metrics.requestShed(reason);
  };
  const bodyMemory = config.MAX_BODY_MEMORY * MEBIBYTE;
  const bodies = createBodyMemory(bodyMemory, onShed.bind(undefined, 'bodies'));
  const queue = createRequestQueue(onShed.bind(undefined, 'organisation'));
  const { clocks, lostAt, quotas } = databases;
  const availability = availabilityOf(databases, logger);
  const { isDown, isReadOnly } = availability;
  const shardHealth = shardHealthOf(databases, logger);
  const tracker = createRequestTracker<Exchange>({
    ...{ availability, shards: shardHealth, lostAt, onShed, maxDuration },
    onEnd: (exchange) => {
      bodies.end(exchange);
      queue.end(exchange);
    },
  });
  const metrics = createMetrics({
    ...{ operations, clocks, quotas, version, openConnections },
    pool: databases.pool,
    requestsInFlight: tracker.inFlight,
    isUp: () => !isDown(),
    isWritable: () => !isDown() && !isReadOnly(),
    shards: () => shardHealth?.states() ?? [],
    bodyBytes: bodies.held,
    moves: control.moving.counts,
    jobs: control.jobs.counts,
    bytesLimit: config.MAX_ORGANISATION_BYTES,
    tail: () => tail.state(),
    recordedAge: createRecordedAge(databases),
    waiting: () => waiting.counts(),
    webhooks: () => webhooks,
    webhookEndpoints: control.webhooks.lastCounts,
  });
  const isOrganisationDown = (id: string): boolean => isDown() || shardHealth?.downShardOf(id) !== undefined;
  const webhooks = createWebhooks({
    ...{ config, databases, control, logger, isDown: isOrganisationDown, onOutcome: metrics.webhookSent },
  });
  const waiting = createWaiting({ streams: databases.streams, logger, payEvery: streams.payEvery });
  const stored = { onWritten: metrics.eventsRecorded, onStored: webhooks.wake };
  const { databaseRestored: onRestored } = metrics;
  const tail = createTail({ databases, feeds: control.feeds, corrector, onRestored, logger, ...stored });
  return { webhooks, bodies, queue, availability, shardHealth, tracker, metrics, waiting, tail };
}

/** Whether the database responds; each change is logged. */
function availabilityOf(databases: Databases, logger: Logger): Availability {
  const watchClock = clockWatch(databases, logger);
  return createAvailability({
    answers: async () => {
      const isAvailable = await databases.answers();
      watchClock();
      return isAvailable;
    },
    onChange: (isDown) => {
      if (isDown) {
        const { stack: _, ...error } = describeError(databases.failure());
        logger.warn({ database: 'unavailable', error }, 'the database is not responding');
      } else logger.warn({ database: 'ok' }, 'the database is responding again');
    },
    write: databases.tryWriting,
    onWrites: (failure) => {
      if (failure === undefined) logger.warn({ database: 'ok' }, 'the database can be written to again');
      else
        logger.warn(
          { database: 'read_only', error: describeError(failure) },
          'the database responds but cannot be written to',
        );
    },
  });
}

/** Which shards respond, if there are shards; each change is logged. */
function shardHealthOf(databases: Databases, logger: Logger) {
  const logFailure = createFailureLog(logger);
  return databases.watchShards({
    onChange: (shard, isDown) => {
      logger.warn(
        { shard, database: isDown ? 'unavailable' : 'ok' },
        `the shard ${isDown ? 'is not responding' : 'is responding again'}`,
      );
    },
    onWrites: (shard, failure) => {
      if (failure === undefined) logger.warn({ shard, database: 'ok' }, 'the shard can be written to again');
      else
        logger.warn(
          { shard, database: 'read_only', error: describeError(failure) },
          'the shard responds but cannot be written to',
        );
    },
    onError: (error) => {
      if (isUnavailable(error)) logFailure('the shards could not be looked at; will retry', error);
      else logger.warn({ error: describeError(error) }, 'the shards cannot be watched; see scopegate doctor');
    },
  });
}

/** Returns a function that logs when the database's clock and this machine's start to differ, and when they agree again. */
function clockWatch({ clocks }: Pick<Databases, 'clocks'>, logger: Logger): () => void {
  let wasWrong = false;
  return () => {
    for (const { ahead, machine } of clocks()) {
      const isWrong = Math.abs(ahead) >= WRONG_BY;
      if (isWrong === wasWrong) continue;
      wasWrong = isWrong;
      const difference = { machine, ahead_seconds: Math.round(ahead / 1000) };
      if (isWrong)
        logger.warn(difference, 'the clock of the database and that of this machine differ; see scopegate doctor');
      else logger.info(difference, 'the clock of the database and that of this machine agree again');
    }
  };
}
