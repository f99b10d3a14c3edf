import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { createAuthenticator } from './access/authenticate';
import { openLimiters } from './access/limiters';
import type { Config } from './config';
import { contextFactory } from './context';
import type { Databases } from './database/connect';
import { createGraphqlFace, GRAPHQL_PATH, sendGraphqlError } from './graphql';
import { createHealth } from './health';
import { applyCors } from './http/cors';
import { type Exchange, openExchange } from './http/exchange';
import { describeError, redact } from './log';
import { toAppError } from './mask';
import type { Control } from './organisations/control';
import { createPages } from './pages';
import { createRestFace, REST_BASE, sendProblem } from './rest';
import { buildSchemas } from './schema';
import { typeChecks } from './validation';
import { version } from './version';

export interface ServerOptions {
  readonly config: Config;
  readonly databases: Databases;
  readonly control: Control;
  readonly logger: Logger;
  /** Shown in the Sandbox's Authorization header; the demo's key. */
  readonly demoKey?: string;
}

export interface RunningServer {
  /** http://HOST:PORT */
  readonly url: string;
  /** Stops taking connections, lets accepted requests finish, then closes. */
  drain(): Promise<void>;
}

/** Longest a request may take to arrive, its headers first, in milliseconds. */
const REQUEST_TIMEOUT = 30_000;
const HEADERS_TIMEOUT = 10_000;
/** Above the 60 s of common load balancers, so that they and not we close a connection first. */
const KEEP_ALIVE_TIMEOUT = 65_000;
/** How long accepted requests may take to finish when the server drains, in milliseconds. */
const DRAIN_TIMEOUT = 25_000;

/** Starts serving both faces, the pages and the health checks. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, logger } = options;
  const server = createServer({
    requestTimeout: REQUEST_TIMEOUT,
    headersTimeout: HEADERS_TIMEOUT,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
  });
  let isDraining = false;
  const gateway = await createGateway(options, () => isDraining);
  server.on('request', (request, response) => {
    if (isDraining) response.setHeader('Connection', 'close');
    const exchange = openExchange(request, response, config.TRUST_PROXY);
    logWhenDone(exchange, logger);
    void gateway.handle(exchange);
  });
  const url = await listen(server, config);
  return {
    url,
    async drain() {
      isDraining = true;
      await closeGently(server);
      await gateway.stop();
    },
  };
}

interface Gateway {
  handle(exchange: Exchange): Promise<void>;
  stop(): Promise<void>;
}

/** Everything a request can meet, in order: health, CORS, REST, GraphQL, pages. */
async function createGateway(
  { config, databases, control, logger, demoKey }: ServerOptions,
  isDraining: () => boolean,
): Promise<Gateway> {
  const { graphql, rest, operations } = buildSchemas();
  const elementCheck = typeChecks(graphql, { elementBounds: true, closed: false });
  const limiters = openLimiters({
    limit: config.RATE_LIMIT_PER_MINUTE,
    redisUrl: config.REDIS_URL,
    instances: config.INSTANCES,
    onChange: (state, reason) => {
      logger.warn(
        { limiter: state, ...(reason === undefined ? {} : { reason: redact(reason) }) },
        `shared limits are ${state}`,
      );
    },
  });
  const openContext = contextFactory({
    authenticate: createAuthenticator({
      apiKeys: control.apiKeys,
      keyPrefix: config.KEY_PREFIX,
      pepper: config.KEY_PEPPER,
      failures: limiters.failures,
    }),
    limiter: limiters.keys,
    organisationData: databases.organisationData,
    checkElement: (type, element) => elementCheck(type)(element),
  });
  const restFace = createRestFace({ schema: rest, operations, openContext });
  const graphqlFace = await createGraphqlFace({
    schema: graphql,
    openContext,
    introspection: config.INTROSPECTION,
    logger,
  });
  const health = createHealth({ databases, limiters, isDraining });
  const pages = createPages({
    ...(demoKey === undefined ? {} : { demoKey }),
    version,
    introspection: config.INTROSPECTION,
    onError: (error) => {
      logger.error({ error: describeError(error) }, 'page failed');
    },
  });

  async function dispatch(exchange: Exchange): Promise<void> {
    if (await health(exchange)) return;
    const face = faceOf(exchange);
    if (face === 'pages') {
      pages(exchange.request as never, exchange.response as never);
      return;
    }
    if (applyCors(exchange, config.CORS_ORIGINS, face === 'graphql')) return;
    await (face === 'rest' ? restFace(exchange) : graphqlFace.handle(exchange));
  }

  return {
    async handle(exchange) {
      try {
        await dispatch(exchange);
      } catch (error) {
        const known = toAppError(error);
        if (known.status >= 500) {
          logger.error({ request_id: exchange.requestId, error: describeError(error) }, 'request failed');
        }
        (faceOf(exchange) === 'graphql' ? sendGraphqlError : sendProblem)(exchange, known);
      }
    },
    stop: async () => {
      await graphqlFace.stop();
      await limiters.close();
    },
  };
}

/** Which part answers: a browser that opens /graphql gets a page, everything else there is GraphQL. */
function faceOf({ path, search, request }: Exchange): 'rest' | 'graphql' | 'pages' {
  if (path === GRAPHQL_PATH) return isBrowserVisit(request, search) ? 'pages' : 'graphql';
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

/** One line a request; no key, no query, no body in it. */
function logWhenDone({ request, response, path, requestId, address, log }: Exchange, logger: Logger): void {
  const started = performance.now();
  response.once('close', () => {
    const { operation, code, principal } = log;
    logger.info({
      request_id: requestId,
      method: request.method,
      path: redact(path),
      ...(operation === undefined ? {} : { operation }),
      status: response.writableFinished ? response.statusCode : 499,
      ...(code === undefined ? {} : { code }),
      ms: Math.round((performance.now() - started) * 10) / 10,
      ...(principal && { key_id: principal.key.id, organisation_id: principal.organisation.id }),
      address,
    });
  });
}

async function listen(server: Server, { HOST, PORT }: Config): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(PORT, HOST, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;
  const host = HOST.includes(':') ? `[${HOST}]` : HOST;
  return `http://${host}:${String(port)}`;
}

async function closeGently(server: Server): Promise<void> {
  const cut = setTimeout(() => {
    server.closeAllConnections();
  }, DRAIN_TIMEOUT);
  await new Promise<void>((resolve) =>
    server.close(() => {
      resolve();
    }),
  );
  clearTimeout(cut);
}
