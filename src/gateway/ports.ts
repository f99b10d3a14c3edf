import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { setImmediate as nextLoopTurn, setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config';
import { refuseBroken, trackConnections } from '../http/connections';
import type { Metrics } from '../metrics';

/* PORT, and ADMIN_PORT for health, metrics and operators. They may open before there is a gateway (starting.ts), which then takes them over. */

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
  /** A connection that has been idle for this long in a drain is ended: an answer before it would have said `Connection: close`. */
  idle: 1000,
  /**
   * Maximum time that requests get to finish in a drain, including DRAIN_DELAY: 6 s below the 30 s of common orchestrators, since the end of
   * ADMIN_PORT and of the gateway may take a few more.
   */
  drain: 24_000,
};
/** How often slow requests are checked for, in milliseconds; Node's default of 30 s would allow four times the limit. */
const CHECK_EVERY = 1000;
/** Options for the heads of requests. Host is checked by checkHead, whose refusals have a body and a request id. */
const HEAD_OPTIONS = { maxHeaderSize: 16 * 1024, requireHostHeader: false };
/** `maxHeadersCount`: by default Node drops headers after the first 1,000 without a word, such as X-Forwarded-For; their size bounds them. */
const ALL_HEADERS = 0;
/** Maximum connections at ADMIN_PORT. */
const ADMIN_CONNECTIONS = 100;
/** How long an idle connection at ADMIN_PORT is kept, in milliseconds: longer than the usual pause between two scrapes. */
const ADMIN_KEEP_ALIVE = 65_000;
/** How often a drain looks for idle connections to close, in milliseconds. */
const DRAIN_SWEEP_EVERY = 50;
/** Connections that may wait to be accepted, if the system allows it; with Node's default of 511, a burst would be reset. */
const BACKLOG = 4096;
/** After this many turns of the event loop without a new connection, none is taken to wait; each turn accepts one. Chosen. */
const QUIET_TURNS = 5;
/** How long to wait for {@link QUIET_TURNS}, in milliseconds; a busy server with a long queue needs seconds. */
const ACCEPT_WITHIN = 5000;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** What answers at the ports. */
export interface Answers {
  readonly answer: Answer;
  readonly answerAdmin: Answer;
  /** Counts connections that are refused, dropped or evicted; undefined while the gateway starts. */
  readonly metrics?: Pick<Metrics, 'connectionRefused' | 'connectionEvicted' | 'connectionDropped'>;
}

export interface Addresses {
  /** http://HOST:PORT */
  readonly url: string;
  /** http://ADMIN_HOST:ADMIN_PORT, if set. */
  readonly adminUrl: string | undefined;
}

export interface PortsOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly timeouts?: Partial<typeof TIMEOUTS> | undefined;
}

export type Ports = ReturnType<typeof createPorts>;

/** Prepares the ports, which `open` opens. */
export function createPorts({ config, logger, timeouts: overrides }: PortsOptions) {
  const timeouts = { ...TIMEOUTS, ...overrides };
  const server = createServer({
    requestTimeout: timeouts.request,
    headersTimeout: timeouts.head,
    keepAliveTimeout: config.KEEP_ALIVE_TIMEOUT * 1000,
    connectionsCheckingInterval: Math.min(CHECK_EVERY, timeouts.head),
    ...HEAD_OPTIONS,
  });
  server.setTimeout(timeouts.stalled);
  server.maxHeadersCount = ALL_HEADERS;
  let answers: Answers | undefined;
  const connections = trackConnections(server, {
    most: config.MAX_CONNECTIONS,
    isShared: config.TRUST_PROXY > 0,
    onEvicted: () => {
      answers?.metrics?.connectionEvicted();
    },
    onDropped: () => {
      answers?.metrics?.connectionDropped();
    },
  });
  const serve: Answer = (request, response) => {
    connections.requestArrived(response, () => {
      answers?.answer(request, response);
    });
  };
  // `Expect: 100-continue` requests are handled like any other; 100 Continue is sent when the body is read
  server.on('request', serve).on('checkContinue', serve).on('checkExpectation', serve);
  const { server: admin, connections: adminConnections } = createAdminServer(timeouts, (request, response) => {
    answers?.answerAdmin(request, response);
  });
  const refusals = {
    connectionRefused: (status: number): void => {
      answers?.metrics?.connectionRefused(status);
    },
  };
  refuseBroken(server, connections, logger, refusals);
  refuseBroken(admin, adminConnections, logger, refusals);
  let opening: Promise<Addresses> | undefined;
  let isAdminOpen = false;

  async function openBoth(): Promise<Addresses> {
    const { HOST, PORT, ADMIN_HOST = HOST, ADMIN_PORT } = config;
    let adminUrl: string | undefined;
    if (ADMIN_PORT !== undefined) {
      adminUrl = await listen(admin, ADMIN_HOST, ADMIN_PORT).catch(rethrowAsAdmin);
      isAdminOpen = true;
    }
    return { url: await listen(server, HOST, PORT), adminUrl };
  }

  return {
    timeouts,
    /** Open connections at PORT. */
    connections: connections.count,
    /** Opens the ports unless they are open, and has them answered by `next` from now on. @throws the system's error if one cannot be opened, marked with `isAdmin` for ADMIN_PORT */
    open(next: Answers): Promise<Addresses> {
      answers = next;
      return (opening ??= openBoth());
    },
    /** From now on, answers close their connections. */
    announceEnd(): void {
      connections.announceEnd();
    },
    /** Accepts what has been connected to PORT, closes it, and lets requests there finish until `latest` (by performance.now()). */
    async finish(latest: number): Promise<void> {
      await stopListening(server, latest);
      while (connections.count() > 0 && performance.now() < latest) {
        connections.endIdle(timeouts.idle);
        await pause(DRAIN_SWEEP_EVERY);
      }
    },
    /** Resets the connections that are left at PORT. */
    async destroy(): Promise<void> {
      // also stops http's own timers
      server.close();
      server.closeAllConnections();
      while (connections.count() > 0) await nextLoopTurn();
    },
    /** Closes ADMIN_PORT: called last, so that a drain can be watched to its end. */
    async closeAdmin(): Promise<void> {
      if (isAdminOpen) await stopListening(admin);
      isAdminOpen = false;
      admin.closeAllConnections();
    },
    /** Closes both at once, whatever is in progress. */
    close(): void {
      for (const each of [server, admin]) {
        each.close();
        each.closeAllConnections();
      }
    },
  };
}

/** Marks an error as ADMIN_PORT's. */
function rethrowAsAdmin(error: unknown): never {
  throw Object.assign(error as Error, { isAdmin: true });
}

/** The server at ADMIN_PORT, for a few machines and short requests. */
function createAdminServer({ head, request: requestTimeout, stalled }: typeof TIMEOUTS, serve: Answer) {
  const headersTimeout = Math.min(head, requestTimeout);
  const times = { requestTimeout, headersTimeout, keepAliveTimeout: ADMIN_KEEP_ALIVE };
  const server = createServer({ ...times, connectionsCheckingInterval: CHECK_EVERY, ...HEAD_OPTIONS });
  server.setTimeout(stalled);
  server.maxHeadersCount = ALL_HEADERS;
  // the metrics of connections are those of PORT
  const uncounted = { onEvicted: () => undefined, onDropped: () => undefined };
  const connections = trackConnections(server, { most: ADMIN_CONNECTIONS, isShared: true, ...uncounted });
  const arrived: Answer = (request, response) => {
    connections.requestArrived(response, () => {
      serve(request, response);
    });
  };
  return {
    server: server.on('request', arrived).on('checkContinue', arrived).on('checkExpectation', arrived),
    connections,
  };
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

/** Closes the port after accepting the connections that the system has already opened, which closing would reset; at `end` (by performance.now()) in any case. */
async function stopListening(server: NetServer, end = Infinity): Promise<void> {
  let quietTurns = 0;
  const onConnection = (): void => {
    quietTurns = 0;
  };
  server.on('connection', onConnection);
  const latest = Math.min(end, performance.now() + ACCEPT_WITHIN);
  for (; quietTurns < QUIET_TURNS && performance.now() < latest; quietTurns += 1) await nextLoopTurn();
  server.off('connection', onConnection);
  // http's own close would destroy idle connections at once, including those on which a request is arriving
  NetServer.prototype.close.call(server);
}
