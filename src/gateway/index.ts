import { createKeyCallers, openGatewayLimiters } from './callers';
import { isUnavailable } from '../mongo/faults';
import { createApis } from './apis';
import { createJobWorker } from '../jobs/worker';
import { WRITE_LINES } from '../operator/writeLines';
import { type Exchange, noteUnavailable } from '../http/exchange';
import { writeError } from '../http/problem';
import { checkHead } from '../http/requestHead';
import { createFailureLog, describeError } from '../log';
import { organisationOf } from '../mongo/databaseNames';
import { toAppError } from '../mongo/toAppError';
import { entryOf, type PathEntry } from './paths';
import { publishedSchemas } from './schemas';
import { createRecording, beginSpan } from './recording';
import { reportRuleFailures } from '../resources/ownRules';
import { routesOf } from '../schema/attachables';
import { operatorModel, published } from '../schema/model';
import { createTraffic, type GatewayHost, type GatewayOptions } from './traffic';

/** What answers at the ports of one process, and its background work, which server.ts starts. It ends by `beginDrain` and then `stop`. */
export async function createGateway(options: GatewayOptions, host: GatewayHost) {
  const { config, databases, control, logger, demoKey, tracing } = options;
  const { isDraining, streams } = host;
  const schemas = publishedSchemas();
  const hasOperators = config.OPERATOR_TOKENS.length > 0;
  const jobs = createJobWorker({ databases, control, logger });
  const declaredOperations = [...schemas.operations, ...(hasOperators ? operatorModel().operations : [])];
  const attachmentRoutes = published.attachables.flatMap(routesOf);
  // the names that metrics may have as a label
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
    // after a failed start nobody else stops them; no step before this one rejects
    availability.stop();
    shardHealth?.stop();
    limiters.close();
    throw error;
  });
  const logFailure = createFailureLog(logger);
  const logRuleFailure = createFailureLog(logger, 'error');
  reportRuleFailures(({ type, file, error }) => {
    logRuleFailure(`the rule of ${type} failed`, error, { type, file });
  });
  const recording = createRecording({
    control,
    logger,
    metrics,
    knownKey,
    logs: config.REQUEST_LOG === 'on',
  });
  databases.maintainIndexes({
    onFailure: (id, collection, error) => {
      const where = { organisation_id: id, collection };
      if (isUnavailable(error))
        logFailure(
          'indexes could not be looked at or made: the database did not respond; a build that it has begun may go on',
          error,
          where,
        );
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
  // the quota of what organisations store
  databases.limitBytes({
    mostOf: (plan) => control.plans.of({ plan }).bytes,
    onFailure: (database, error) => {
      logFailure('an organisation could not be measured; its last size counts', error, {
        organisation_id: organisationOf(database),
      });
    },
  });
  // large work of one organisation waits for moments while others have requests
  databases.yieldWhile((organisationId) => tracker.hasOthers(organisationId));

  /** Answers an exchange by running its work, or with an error if that fails. Must not reject: nobody awaits it. */
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
