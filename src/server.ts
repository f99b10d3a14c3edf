import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import type { Config } from './config';
import { createGateway, faceOf, type GatewayOptions } from './gateway';
import { noteWhenDone } from './http/accessLog';
import { type Connections, trackConnections } from './http/connections';
import { openExchange } from './http/exchange';
import { refuseBroken } from './http/refusals';

export interface ServerOptions extends GatewayOptions {
  /** Other time limits than those of production. */
  readonly timeouts?: Partial<Timeouts>;
}

export interface RunningServer {
  /** http://HOST:PORT */
  readonly url: string;
  /** Says 503 on /readyz, stops taking connections after DRAIN_DELAY, lets accepted requests finish, then closes. */
  drain(): Promise<void>;
}

/** In milliseconds. */
interface Timeouts {
  /** Longest the head of a request may take to arrive, and longest the whole of it may. */
  readonly head: number;
  readonly request: number;
  /** Above the 60 s of common load balancers, so that they and not we close an idle connection first. */
  readonly keepAlive: number;
  /** Longest a connection may stand still while its caller does not take the answer. */
  readonly stalled: number;
  /** Longest a request may take before it is refused with 503: with a last look at the database below `stalled`, which cuts off. */
  readonly answer: number;
  /** Longest the server may take to end, DRAIN_DELAY included: less than the 30 s of common orchestrators. */
  readonly drain: number;
}

export const TIMEOUTS: Timeouts = {
  head: 10_000,
  request: 30_000,
  keepAlive: 65_000,
  stalled: 60_000,
  answer: 50_000,
  drain: 24_000,
};
/** How often requests that arrive slowly are looked for, in milliseconds; Node's own 30 s would let them have four times their due. */
const CHECK_EVERY = 1000;
const MAX_HEADER_BYTES = 16 * 1024;
/** Connections that may wait to be accepted, as far as the system allows; past Node's 511 it drops those of a burst, and their callers see a reset. */
const BACKLOG = 4096;
/** A connection that is idle for this long of the drain is ended: whoever used it was told before. */
const IDLE_GRACE = 1000;
const SWEEP_EVERY = 50;
/** Turns of the event loop without a new connection after which none waits to be accepted; each turn accepts one. */
const QUIET_TURNS = 5;
/** Longest that is waited for, in milliseconds: a busy server with a long queue needs seconds. */
const ACCEPT_WITHIN = 5000;

/** Starts serving both faces, the pages, the health checks and the metrics. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, logger } = options;
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const server = createServer({
    requestTimeout: timeouts.request,
    headersTimeout: timeouts.head,
    keepAliveTimeout: timeouts.keepAlive,
    connectionsCheckingInterval: Math.min(CHECK_EVERY, timeouts.head),
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  server.setTimeout(timeouts.stalled);
  server.maxConnections = config.MAX_CONNECTIONS;
  const connections = trackConnections(server);
  let draining: Promise<void> | undefined;
  const gateway = await createGateway(options, {
    isDraining: () => draining !== undefined,
    openConnections: connections.count,
    longest: timeouts.answer,
  });
  const { metrics, bodies, turns } = gateway;
  server.on('drop', metrics.connectionDropped);
  refuseBroken(server, connections, logger, metrics);
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    connections.requestArrived(response);
    const exchange = openExchange(request, response, { trustedProxies: config.TRUST_PROXY, bodies, turns });
    noteWhenDone(exchange, faceOf(exchange), { logger, ...gateway });
    void gateway.handle(exchange);
  };
  // a caller that asks before it sends its body is answered like any other, and asked for it where that is read
  server.on('request', serve).on('checkContinue', serve);
  const url = await listen(server, config);

  async function end(): Promise<void> {
    await closeGently(server, connections, { delay: config.DRAIN_DELAY * 1000, within: timeouts.drain });
    await gateway.stop();
  }

  return { url, drain: () => (draining ??= end()) };
}

async function listen(server: Server, { HOST, PORT }: Config): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: PORT, host: HOST, backlog: BACKLOG }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;
  const host = HOST.includes(':') ? `[${HOST}]` : HOST;
  return `http://${host}:${String(port)}`;
}

/** Closes the port after a while, then each connection when it has nothing to do any more; cuts off what is left in the end. */
async function closeGently(
  server: Server,
  connections: Connections,
  { delay, within }: { readonly delay: number; readonly within: number },
): Promise<void> {
  const deadline = performance.now() + within;
  connections.announceEnd();
  await pause(delay);
  await acceptWaiting(server);
  // http's own close would cut idle connections at once, and with them a request that is on its way
  const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
  while (connections.count() > 0 && performance.now() < deadline) {
    connections.endIdle(IDLE_GRACE);
    await pause(SWEEP_EVERY);
  }
  server.closeAllConnections();
  await closed;
  // ends http's own timers
  server.close();
}

/** Takes in connections that the system opened for us already: closing the port would reset them. */
async function acceptWaiting(server: Server): Promise<void> {
  let quiet = 0;
  const onConnection = (): void => {
    quiet = 0;
  };
  server.on('connection', onConnection);
  const latest = performance.now() + ACCEPT_WITHIN;
  for (; quiet < QUIET_TURNS && performance.now() < latest; quiet += 1) await turn();
  server.off('connection', onConnection);
}
