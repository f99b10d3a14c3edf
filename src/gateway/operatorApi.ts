import type { Logger } from 'pino';
import type { AdminOf } from '../admin';
import type { Limiters } from '../admission/limiters';
import { createFailureCounter } from '../admission/rateLimit';
import type { RequestTracker } from '../admission/requestTracker';
import type { Config } from '../config';
import { createDeploymentFeed } from '../events/deploymentFeed';
import { createEventSource } from '../events/source';
import type { Waiting } from '../events/waiting';
import { createGraphqlApi } from '../graphql';
import type { Exchange } from '../http/exchange';
import type { createJobWorker } from '../jobs/worker';
import { describeError } from '../log';
import type { Metrics } from '../metrics';
import type { ShardHealth } from '../mongo/shardHealth';
import { operatorDocument } from '../openapi';
import type { Schemas } from '../operations/build';
import { createRunner } from '../operations/runner';
import { operatorContextFactory } from '../operator/context';
import { createWriteLines } from '../operator/writeLines';
import type { WriteServices } from '../operator/writeOperation';
import type { Control } from '../organisations/control';
import { collections } from '../resources';
import { customerById, customerByRef, readmitCustomer } from '../resources/customers/readmit';
import { eraseCustomer } from '../resources/eraseCustomer';
import { storeSample } from '../resources/sample';
import { emptySandbox } from '../resources/sandbox';
import { shownObjects } from '../resources/shownObject';
import { createRestApi, OPERATOR_BASE } from '../rest';
import { typeChecks } from '../schema/validation';
import type { Databases } from '../tenant/databases';
import { type Kinds, kindsOf } from '../writes';
import { OPERATOR_GRAPHQL } from './paths';
import { operatorSchemas } from './schemas';

/** Path of operators' writes to many organisations. */
const WRITES_PATH = `${OPERATOR_BASE}/writes`;

export interface OperatorApiOptions {
  readonly config: Config;
  readonly databases: Databases;
  readonly control: Control;
  readonly logger: Logger;
  /** Those of the API for keys, whose objects operators write and read; the operators' own are made here. */
  readonly schemas: Schemas;
  readonly shardHealth: ShardHealth | undefined;
  readonly tracker: RequestTracker<Exchange>;
  readonly metrics: Metrics;
  readonly limiters: Limiters;
  readonly waiting: Waiting;
  readonly jobs: Pick<ReturnType<typeof createJobWorker>, 'wake'>;
  readonly isDraining: () => boolean;
  /** Interval between comments on an open stream, in milliseconds. */
  readonly commentEvery: number;
}

/** The REST and GraphQL APIs of operators (docs/decisions/operator-api.md): built like those for keys, with their own schema and callers. */
export async function createOperatorApi(options: OperatorApiOptions, admin: AdminOf) {
  const { config, control, databases, shardHealth, logger, tracker, metrics, limiters, waiting } = options;
  const schemas = operatorSchemas();
  const elementCheck = typeChecks(schemas.graphql, { elementBounds: true, closed: false });
  let kinds: Kinds | undefined;
  const writing: WriteServices = {
    organisationData: databases.organisationData,
    control,
    admit: (organisation) => {
      tracker.admitOrganisation(organisation);
    },
    // on first use, since deriving them takes as long as a tenth of a start
    checkElement: (element, limits) => elementCheck('WriteElement')(element, limits),
    kinds: () => (kinds ??= kindsOf(collections, options.schemas.rest)),
    onUnrecorded: (event, error) => {
      logger.error({ ...event, error: describeError(error) }, 'audit event not recorded');
    },
  };
  const openContext = operatorContextFactory({
    config,
    control,
    databases,
    shardHealth,
    admin,
    onNewJob: options.jobs.wake,
    log: createDeploymentFeed(databases),
    source: createEventSource(databases, waiting),
    wait: waiting.wait,
    readShown: shownObjects(options.schemas.graphql),
    actions: {
      customerById,
      customerByRef,
      readmitCustomer,
      fillSandbox: storeSample,
      // nothing interrupts it, not even a caller who leaves: half of it would stay until the same call is made again
      eraseCustomer: (data, id, by) => eraseCustomer(data, id, { by, signal: new AbortController().signal }),
      emptySandbox: (data, by) => emptySandbox(data, { by }),
    },
    writing,
    // each token has the points of a key (contract, section 15)
    limiter: metrics.counted('operator', limiters.usersAndTokens),
    countFailure: createFailureCounter(metrics.counted('address', limiters.failures)),
    admit: () => {
      tracker.admit();
    },
  });
  const { graphql: schema, operations } = schemas;
  const graphql = await createGraphqlApi({
    schema,
    operations,
    openContext,
    logger,
    introspection: 'key',
    onFastRead: undefined,
    commentEvery: options.commentEvery,
  });
  // PUBLIC_URL is that of PORT
  const publicUrl = config.ADMIN_PORT === undefined ? config.PUBLIC_URL : undefined;
  const rest = createRestApi({
    base: OPERATOR_BASE,
    runner: createRunner(schemas),
    openContext,
    publicUrl,
    document: () => operatorDocument(publicUrl, config.BRAND_NAME),
  });
  const writeLines = createWriteLines({
    openContext,
    isDraining: options.isDraining,
    onError: (ids, error) => {
      logger.error({ ...ids, error: describeError(error) }, 'lines failed');
    },
  });
  return {
    answer: (exchange: Exchange): Promise<void> => {
      if (exchange.path === OPERATOR_GRAPHQL) return graphql.handle(exchange);
      return exchange.path === WRITES_PATH ? writeLines(exchange) : rest(exchange);
    },
    stop: () => graphql.stop(),
  };
}
