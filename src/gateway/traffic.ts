import type { Logger } from 'pino';
import { createBodyMemory } from '../admission/bodyMemory';
import { createRequestQueue } from '../admission/requestQueue';
import { createRequestTracker } from '../admission/requestTracker';
import type { Config } from '../config';
import { createRecordedAge } from '../events/tail/recordedAge';
import { createTail } from '../events/tail/tail';
import { createWaiting } from '../events/waiting';
import type { Exchange } from '../http/exchange';
import { createFailureLog, describeError, describeFailure } from '../log';
import { createMetrics, type ShedReason } from '../metrics';
import { type Availability, createAvailability } from '../mongo/availability';
import { WRONG_BY } from '../mongo/clock';
import { isUnavailable } from '../mongo/faults';
import type { Control } from '../organisations/control';
import { version } from '../package';
import { corrector } from '../resources/corrector';
import type { Databases } from '../tenant/databases';
import type { Tracing } from '../tracing';
import { MEBIBYTE } from '../units';
import { createWebhooks } from '../webhooks';

/* What limits and counts requests in progress, and the background work. Metrics and what they count refer to each other, so both are made here. */

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

/** What the gateway needs from the server that runs it (server.ts). */
export interface GatewayHost {
  readonly isDraining: () => boolean;
  readonly openConnections: () => number;
  /** Maximum duration of a request, in milliseconds. */
  readonly maxDuration: number;
  /** Intervals at which a stream costs a point and gets a comment, in milliseconds. */
  readonly streams: { readonly payEvery: number; readonly commentEvery: number };
}

/** `operations` are the names that the metrics may have as a label. */
export function createTraffic(
  { config, databases, control, logger }: GatewayOptions,
  { maxDuration, openConnections, streams }: GatewayHost,
  operations: readonly string[],
) {
  const onShed = (reason: ShedReason): void => {
    metrics.requestShed(reason);
  };
  const bodyMemory = config.MAX_BODY_MEMORY * MEBIBYTE;
  const bodies = createBodyMemory(bodyMemory, () => {
    onShed('bodies');
  });
  const queue = createRequestQueue(() => {
    onShed('organisation');
  });
  const { clockDifference, lostAt, quotas } = databases;
  const availability = availabilityOf(databases, logger);
  const { isDown, isReadOnly } = availability;
  const shardHealth = shardHealthOf(databases, logger);
  const tracker = createRequestTracker<Exchange>({
    availability,
    shards: shardHealth,
    lostAt,
    onShed,
    maxDuration,
    onEnd: (exchange) => {
      bodies.end(exchange);
      queue.end(exchange);
    },
  });
  const metrics = createMetrics({
    operations,
    clockDifference,
    quotas,
    version,
    openConnections,
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
    config,
    databases,
    control,
    logger,
    isDown: isOrganisationDown,
    onOutcome: metrics.webhookSent,
  });
  const waiting = createWaiting({ streams: databases.streams, logger, payEvery: streams.payEvery });
  const tail = createTail({
    databases,
    feeds: control.feeds,
    corrector,
    logger,
    onRestored: metrics.databaseRestored,
    onBegun: webhooks.begun,
    onWritten: metrics.eventsRecorded,
    onStored: webhooks.wake,
  });
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
      if (isDown)
        logger.warn(
          { database: 'unavailable', error: describeFailure(databases.failure()) },
          'the database is not responding',
        );
      else logger.warn({ database: 'ok' }, 'the database is responding again');
    },
    write: databases.tryWriting,
    onWrites: (failure) => {
      logWrites(logger, 'the database', failure);
    },
  });
}

/** Logs whether the database or a shard can be written to: not if there is a failure. */
function logWrites(logger: Logger, subject: string, failure: unknown, fields: { readonly shard?: string } = {}): void {
  if (failure === undefined) logger.warn({ ...fields, database: 'ok' }, `${subject} can be written to again`);
  else {
    const error = describeFailure(failure);
    logger.warn({ ...fields, database: 'read_only', error }, `${subject} responds but cannot be written to`);
  }
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
      logWrites(logger, 'the shard', failure, { shard });
    },
    onError: (error) => {
      if (isUnavailable(error)) logFailure('the shards could not be looked at; will retry', error);
      else logger.warn({ error: describeError(error) }, 'the shards cannot be watched; see scopegate doctor');
    },
  });
}

/** Returns a function that logs when the database's clock and this machine's start to differ, and when they agree again. */
function clockWatch({ clockDifference }: Pick<Databases, 'clockDifference'>, logger: Logger): () => void {
  let wasWrong = false;
  return () => {
    const { ahead = 0, machine } = clockDifference() ?? {};
    const isWrong = Math.abs(ahead) >= WRONG_BY;
    if (isWrong === wasWrong) return;
    wasWrong = isWrong;
    const difference = { machine, ahead_seconds: Math.round(ahead / 1000) };
    if (isWrong)
      logger.warn(difference, 'the clock of the database and that of this machine differ; see scopegate doctor');
    else logger.info(difference, 'the clock of the database and that of this machine agree again');
  };
}
