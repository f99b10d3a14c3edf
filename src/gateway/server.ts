import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { setImmediate as nextLoopTurn, setTimeout as pause } from 'node:timers/promises';
import { createGateway, type GatewayOptions } from './index';
import { type Connections, refuseBroken, trackConnections } from '../http/connections';
import { openExchange } from '../http/exchange';
import { redact } from '../log';
import { revision, version } from '../package';

export interface ServerOptions extends GatewayOptions {
  /** Overrides of the production timeouts, for tests. */
  readonly timeouts?: Partial<typeof TIMEOUTS>;
}

export interface RunningServer {
  /** http://HOST:PORT */
  readonly url: string;
  /** http://ADMIN_HOST:ADMIN_PORT, if set. */
  readonly adminUrl: string | undefined;
  /**
   * Returns 503 on /readyz, stops accepting connections after DRAIN_DELAY, lets accepted requests finish, then closes. `reason`, such as a
   * signal, is for the log.
   */
  drain(reason?: string): Promise<void>;
}

/** In milliseconds. */
export const TIMEOUTS = {
  /** Maximum time for the headers of a request to arrive, and for the whole request to arrive. */
  head: 10_000,
  request: 30_000,
  /** Maximum time without progress on a connection, e.g. if the caller does not read the answer. */
  stalled: 60_000,
  /** Maximum duration of a request before it gets 503; with a final check of the database it must stay below `stalled`. */
  answer: 50_000,
  /** Intervals at which a stream costs a point, and gets a comment. */
  streamPoint: 60_000,
  comment: 15_000,
  /** A connection idle for this long during a drain is ended: its caller already got `Connection: close`. */
  idle: 1000,
  /** Maximum time for the server to stop, including DRAIN_DELAY; below the 30 s of common orchestrators. */
  drain: 24_000,
};
/** How often slow requests are checked for, in milliseconds; Node's default of 30 s would allow four times the limit. */
const CHECK_EVERY = 1000;
/** Options for the heads of requests. Host is checked by checkHead, whose refusals have a body and a request id. */
const HEAD_OPTIONS = { maxHeaderSize: 16 * 1024, requireHostHeader: false };
/** Maximum time for the headers of a request at ADMIN_PORT to arrive, in milliseconds, and maximum connections there. */
const ADMIN_TIMEOUT = 10_000;
/** How long an idle connection at ADMIN_PORT is kept, in milliseconds: longer than the usual pause between two scrapes. */
const ADMIN_KEEP_ALIVE = 65_000;
const ADMIN_CONNECTIONS = 100;
/** How often a drain looks for idle connections to close, in milliseconds. */
const DRAIN_SWEEP_EVERY = 50;
/** Connections that may wait to be accepted, if the system allows it; with Node's default of 511, a burst would be reset. */
const BACKLOG = 4096;
/** After this many turns of the event loop without a new connection, none is waiting; each turn accepts one. */
const QUIET_TURNS = 5;
/** How long to wait for so many quiet turns, in milliseconds; a busy server with a long queue needs seconds. */
const ACCEPT_WITHIN = 5000;
/** Characters of an unreadable address that are logged. */
const MAX_LOGGED = 100;
/** Logged once, since it affects every request behind such a proxy. */
const UNREADABLE =
  'X-Forwarded-For has no valid address at the position that TRUST_PROXY implies: keys with allowed addresses are refused';

/** Starts serving the APIs, the pages, the health checks and the metrics. @throws the system's error if a port cannot be opened, marked with `isAdmin` for ADMIN_PORT */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, databases, logger } = options;
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const server = createServer({
    requestTimeout: timeouts.request,
    headersTimeout: timeouts.head,
    keepAliveTimeout: config.KEEP_ALIVE_TIMEOUT * 1000,
    connectionsCheckingInterval: Math.min(CHECK_EVERY, timeouts.head),
    ...HEAD_OPTIONS,
  });
  server.setTimeout(timeouts.stalled);
  const connections = trackConnections(server, {
    most: config.MAX_CONNECTIONS,
    isShared: config.TRUST_PROXY > 0,
    onEvicted: () => {
      gateway.metrics.connectionEvicted();
    },
    onDropped: () => {
      gateway.metrics.connectionDropped();
    },
  });
  let draining: Promise<void> | undefined;
  const gateway = await createGateway(options, {
    isDraining: () => draining !== undefined,
    openConnections: connections.count,
    maxDuration: timeouts.answer,
    streams: { payEvery: timeouts.streamPoint, commentEvery: timeouts.comment },
  });
  const { metrics, bodies, queue } = gateway;
  refuseBroken(server, connections, logger, metrics);
  let hasWarnedOfAddress = false;
  const opening = {
    ...{ trustedProxies: config.TRUST_PROXY, bodies, queue },
    onUnreadable: (written: string): void => {
      if (hasWarnedOfAddress) return;
      hasWarnedOfAddress = true;
      const details = { forwarded_for: redact(written.slice(0, MAX_LOGGED)), trust_proxy: config.TRUST_PROXY };
      logger.warn(details, UNREADABLE);
    },
  };
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    connections.requestArrived(response, () => {
      void gateway.handle(openExchange(request, response, opening));
    });
  };
  // `Expect: 100-continue` requests are handled like any other; 100 Continue is sent when the body is read
  server.on('request', serve).on('checkContinue', serve).on('checkExpectation', serve);
  const { server: admin, connections: adminConnections } = createAdmin(timeouts, (request, response) => {
    void gateway.handleAdmin(openExchange(request, response, { trustedProxies: 0, bodies, queue }));
  });
  refuseBroken(admin, adminConnections, logger, metrics);
  const { HOST, PORT, ADMIN_HOST = HOST, ADMIN_PORT } = config;
  let adminUrl: string | undefined;
  /** Called last, so that a drain can be watched to its end. */
  const closeAdmin = async (): Promise<void> => {
    if (adminUrl !== undefined) await stopListening(admin);
    admin.closeAllConnections();
  };
  async function openPorts(): Promise<string> {
    if (ADMIN_PORT !== undefined) adminUrl = await listen(admin, ADMIN_HOST, ADMIN_PORT).catch(rethrowAsAdmin);
    return listen(server, HOST, PORT);
  }
  const url = await openPorts().catch(async (error: unknown) => {
    await gateway.stop();
    await closeAdmin();
    throw error;
  });
  // only a gateway that serves records events and sends them
  gateway.jobs.start();
  if (config.EVENTS === 'on') for (const part of [gateway.tail, gateway.webhooks]) part.start();

  async function end(reason: string | undefined): Promise<void> {
    const began = performance.now();
    const latest = began + timeouts.drain;
    logger.info({ reason, ...gateway.inHand(), connections: connections.count() }, 'draining');
    const begun = gateway.beginDrain();
    connections.announceEnd();
    await pause(config.DRAIN_DELAY * 1000);
    await stopListening(server);
    await finishConnections(connections, { idle: timeouts.idle, latest });
    const { requests, streams } = gateway.inHand();
    const cutOff = { requests, streams, connections: connections.count() };
    await destroyConnections(server, connections);
    // a database that does not respond may hold up the background work
    await Promise.race([begun, pause(Math.max(0, latest - performance.now()), undefined, { ref: false })]);
    await gateway.stop();
    await closeAdmin();
    logger.info({ ms: Math.round(performance.now() - began), cut_off: cutOff }, 'stopped');
  }

  logger.info(
    {
      ...{ version, revision, node: process.version, url, admin_url: adminUrl },
      ...{ mongodb: databases.version, events: config.EVENTS },
    },
    'started',
  );
  return { url, adminUrl, drain: (reason) => (draining ??= end(reason)) };
}

/** Marks an error as ADMIN_PORT's. */
function rethrowAsAdmin(error: unknown): never {
  throw Object.assign(error as Error, { isAdmin: true });
}

/** The server at ADMIN_PORT, for a few machines and short requests. */
function createAdmin(
  { request: requestTimeout, stalled }: typeof TIMEOUTS,
  serve: (request: IncomingMessage, response: ServerResponse) => void,
) {
  const headersTimeout = Math.min(ADMIN_TIMEOUT, requestTimeout);
  const times = { requestTimeout, headersTimeout, keepAliveTimeout: ADMIN_KEEP_ALIVE };
  const server = createServer({ ...times, connectionsCheckingInterval: CHECK_EVERY, ...HEAD_OPTIONS });
  server.setTimeout(stalled);
  const unwatched = { onEvicted: () => undefined, onDropped: () => undefined };
  const connections = trackConnections(server, { most: ADMIN_CONNECTIONS, isShared: true, ...unwatched });
  const arrived = (request: IncomingMessage, response: ServerResponse): void => {
    connections.requestArrived(response, () => {
      serve(request, response);
    });
  };
  return { server: server.on('request', arrived).on('checkExpectation', arrived), connections };
}

/** Closes each connection when it is idle, until the deadline. */
async function finishConnections(
  connections: Connections,
  { idle, latest }: { readonly idle: number; readonly latest: number },
): Promise<void> {
  while (connections.count() > 0 && performance.now() < latest) {
    connections.endIdle(idle);
    await pause(DRAIN_SWEEP_EVERY);
  }
}

async function destroyConnections(server: Server, connections: Connections): Promise<void> {
  // also stops http's own timers
  server.close();
  server.closeAllConnections();
  while (connections.count() > 0) await nextLoopTurn();
}

/** Listens, and returns the URL: http://HOST:PORT. Port 0 picks a free one. @throws the system's error, e.g. EADDRINUSE */
async function listen(server: NetServer, host: string, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog: BACKLOG }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port: opened } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${String(opened)}`;
}

/** Closes the port after accepting the connections that the system has already opened, which closing would reset. */
async function stopListening(server: NetServer): Promise<void> {
  let quietTurns = 0;
  const onConnection = (): void => {
    quietTurns = 0;
  };
  server.on('connection', onConnection);
  const latest = performance.now() + ACCEPT_WITHIN;
  for (; quietTurns < QUIET_TURNS && performance.now() < latest; quietTurns += 1) await nextLoopTurn();
  server.off('connection', onConnection);
  // http's own close would destroy idle connections at once, including those on which a request is arriving
  NetServer.prototype.close.call(server);
}
