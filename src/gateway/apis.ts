import { createAdmin } from '../admin';
import type { BestEffortRecognise } from '../auth/recognise';
import { type Config, publicPath } from '../config';
import type { Availability } from '../mongo/availability';
import { AppError } from '../errors';
import { createGraphqlApi } from '../graphql';
import { applyCors } from '../http/cors';
import type { Exchange } from '../http/exchange';
import { createHealth, createMetricsPage, createReadiness, metricsAccess } from './health';
import { describeError } from '../log';
import { createMcpApi } from '../mcp';
import type { Face } from '../metrics';
import { challengeOf, createOAuthApi, oauthAddress } from '../oauth';
import type { DataContext, OpenContext } from '../operations/context';
import { createExecutor } from '../operations/execution';
import { createRunner } from '../operations/runner';
import { createAttachmentRoutes } from '../attachments';
import { createPages } from '../pages';
import { createGuides } from '../guides';
import { createReference } from '../reference';
import { resourceOf } from '../resources';
import { storeSample } from '../resources/sample';
import { keyDocument } from '../openapi';
import { firstCall } from './firstCall';
import { createOperatorApi, type OperatorApiOptions } from './operatorApi';
import { OPERATOR_GRAPHQL, type PathEntry } from './paths';
import { type Brand, createSite } from '../pages/site';
import { createRestApi, OPERATOR_BASE } from '../rest';
import { published } from '../schema/model';
import { createSettings } from '../settings';
import { PAGES as SETTINGS_PAGES } from '../settings/page';
import type { createWebhooks } from '../webhooks';
import { webhookSettings } from '../webhooks/settings';

/* The APIs and pages that answer requests; paths.ts says which of them does. */

interface ApisOptions extends OperatorApiOptions {
  readonly demoKey: string | undefined;
  readonly availability: Availability;
  readonly openContext: OpenContext<DataContext>;
  readonly recognise: BestEffortRecognise;
  readonly webhooks: Pick<ReturnType<typeof createWebhooks>, 'management'>;
}

export async function createApis(options: ApisOptions) {
  const { config, databases, control, logger, demoKey, schemas, tracker, metrics, limiters, openContext } = options;
  const { operations } = schemas;
  const runner = createRunner(schemas, metrics.answerWritable);
  const logError = (message: string) => (error: unknown) => {
    logger.error({ error: describeError(error) }, message);
  };
  const { availability, shardHealth, isDraining } = options;
  const health = createHealth(createReadiness(databases, availability, shardHealth, limiters, isDraining));
  const metricsPage = createMetricsPage(metrics, metricsAccess(config));
  const adminMetricsPage = createMetricsPage(metrics, metricsAccess(config, true));
  const attachments = createAttachmentRoutes({
    attachables: published.attachables,
    resourceOf,
    openContext,
    publicUrl: config.PUBLIC_URL,
    onError: logError('a download broke off'),
  });
  const routeMethods = [...operations, ...attachments.keys()].flatMap(({ rest }) => rest?.method ?? []);
  const cors = { origins: config.CORS_ORIGINS, methods: [...new Set(['GET', 'HEAD', 'POST', ...routeMethods])] };
  const graphql = await createGraphqlApi({
    schema: schemas.graphql,
    operations,
    openContext,
    logger,
    introspection: config.INTROSPECTION,
    onFastRead: metrics.answerWritable,
    introspectionLimiter: metrics.counted('introspection', limiters.introspection),
    commentEvery: options.commentEvery,
    compresses: true,
  });
  const admin = createAdmin({ config, control, databases, ...options.webhooks.management });
  const site = createSite(publicPath(config), brandOf(config));
  const addressOf = oauthAddress(config);
  const failures = metrics.counted('address', limiters.failures);
  const settings = createSettings({
    config,
    site,
    oauthAddress: addressOf,
    control,
    now: databases.now,
    demoKey,
    organisationData: databases.organisationData,
    execute: createExecutor(schemas.graphql),
    storeSample,
    tracker,
    admin,
    limiter: metrics.counted('user', limiters.usersAndTokens),
    failures,
    webhookInfo: {
      types: published.eventTypes.map(({ name }) => name),
      canMake: webhookSettings(config).masters !== undefined,
    },
    onError: logError('settings failed'),
  });
  const operator = config.OPERATOR_TOKENS.length > 0 ? await createOperatorApi(options, admin) : undefined;
  const document = () => keyDocument(config.PUBLIC_URL, config.BRAND_NAME, config.BRAND_DESCRIPTION);
  const introspection = config.INTROSPECTION;
  const pages = createPages({
    others: [
      createReference({ document, site, demoKey }),
      createGuides({ document, site, introspection, publicUrl: config.PUBLIC_URL, settings: SETTINGS_PAGES }),
    ],
    demoKey,
    introspection,
    site,
    firstCall: firstCall(document, site, demoKey !== undefined),
    onError: logError('page failed'),
  });

  // the pages are an Express app, which takes Node's requests and responses and types them as its own
  const answerWithPages = (exchange: Exchange): void => {
    pages(exchange.request as never, exchange.response as never);
  };
  const handlers: Record<Face | 'settingsApi', (exchange: Exchange) => void | Promise<void>> = {
    rest: createRestApi({
      runner,
      openContext,
      others: attachments,
      recognise: options.recognise,
      publicUrl: config.PUBLIC_URL,
      compresses: true,
      document,
    }),
    graphql: (exchange) => graphql.handle(exchange),
    mcp: createMcpApi({
      runner,
      openContext,
      title: config.BRAND_NAME,
      description: config.BRAND_DESCRIPTION,
      origins: config.CORS_ORIGINS,
    }),
    oauth: createOAuthApi({
      config,
      control,
      now: databases.now,
      addressOf,
      limiter: failures,
      admit: () => {
        tracker.admit();
      },
    }),
    settingsApi: (exchange) => {
      const isPost = exchange.request.method === 'POST';
      if (!isPost) throw new AppError('method_not_allowed', 'Only POST is allowed.', { allow: ['POST'] });
      return graphql.handle(exchange, settings.openContext);
    },
    settings: (exchange) => {
      settings.serve(exchange);
    },
    operator: (exchange) => operator?.answer(exchange),
    // the name of health and metrics in logs and metrics
    async operation(exchange) {
      if (!(await health(exchange)) && !(await metricsPage(exchange))) answerWithPages(exchange);
    },
    pages: answerWithPages,
  };

  /** Answers a request by what the table of paths says. */
  async function answer(exchange: Exchange, { face, handler, isTracked, hasCors }: PathEntry): Promise<void> {
    const { origin } = exchange.request.headers;
    const isGraphql = face === 'graphql';
    if (hasCors && origin !== undefined && applyCors(exchange, origin, { ...cors, isGraphql })) return;
    const work = async (): Promise<void> => handlers[handler ?? face](exchange);
    await (isTracked ? tracker.run(exchange, work) : work());
  }

  return {
    answer,
    /** Adds to the answer to a request without a valid key where an app gets one, if apps can connect. */
    challenge({ request, response }: Exchange, face: Face): void {
      const address = face === 'mcp' || face === 'rest' ? addressOf(request) : undefined;
      if (address !== undefined) response.setHeader('WWW-Authenticate', challengeOf(address, face === 'mcp'));
    },
    /** Answers a request at ADMIN_PORT. */
    async answerAdmin(exchange: Exchange, entry: PathEntry): Promise<void> {
      if (entry.face === 'operator') return answer(exchange, entry);
      if ((await health(exchange)) || (await adminMetricsPage(exchange))) return;
      throw new AppError(
        'not_found',
        `This port has GET /livez, /readyz and /metrics${operator ? `, and ${OPERATOR_BASE} and ${OPERATOR_GRAPHQL}` : ''}.`,
      );
    },
    async stop(): Promise<void> {
      await Promise.all([graphql.stop(), operator?.stop()]);
    },
  };
}

const brandOf = (config: Config): Brand => ({
  name: config.BRAND_NAME,
  description: config.BRAND_DESCRIPTION,
  home: config.BRAND_HOME,
  logo: config.BRAND_LOGO,
  accents: config.BRAND_COLOUR,
  keyPrefixes: { live: config.KEY_PREFIX, test: config.KEY_PREFIX_TEST },
});
