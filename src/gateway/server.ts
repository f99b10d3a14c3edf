import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { createGateway } from './index';
import { openExchange } from '../http/exchange';
import { redact } from '../log';
import { revision, version } from '../package';
import { type Addresses, createPorts, type Ports, type PortsOptions } from './ports';
import type { GatewayOptions } from './traffic';

export interface ServerOptions extends GatewayOptions {
  /** Overrides of the production timeouts, for tests. */
  readonly timeouts?: PortsOptions['timeouts'];
  /** Ports that are open already; their own timeouts apply. By default they are opened once the gateway can answer. */
  readonly ports?: Ports;
}

export interface RunningServer extends Addresses {
  /**
   * Returns 503 on /readyz, stops accepting connections after DRAIN_DELAY, lets accepted requests finish, then closes. `reason`, such as a
   * signal, is for the log.
   */
  drain(reason?: string): Promise<void>;
}

/** Characters of an unreadable address that are logged. */
const MAX_LOGGED = 100;
/** Logged once, since it affects every request behind such a proxy. */
const UNREADABLE =
  'X-Forwarded-For has no valid address at the position that TRUST_PROXY implies: keys with allowed addresses are refused';

/** Starts serving the APIs, the pages, the health checks and the metrics. @throws as `open` of ports.ts */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { databases, logger, ports = createPorts(options) } = options;
  // a copy, in which PORT becomes the one that is listened to
  const config = { ...options.config };
  const { timeouts } = ports;
  let draining: Promise<void> | undefined;
  const gateway = await createGateway(
    { ...options, config },
    {
      isDraining: () => draining !== undefined,
      openConnections: ports.connections,
      maxDuration: timeouts.answer,
      streams: { payEvery: timeouts.streamPoint, commentEvery: timeouts.comment },
    },
  );
  const { metrics, bodies, queue } = gateway;
  let hasWarnedOfAddress = false;
  const opening = {
    trustedProxies: config.TRUST_PROXY,
    bodies,
    queue,
    onUnreadable: (written: string): void => {
      if (hasWarnedOfAddress) return;
      hasWarnedOfAddress = true;
      const details = { forwarded_for: redact(written.slice(0, MAX_LOGGED)), trust_proxy: config.TRUST_PROXY };
      logger.warn(details, UNREADABLE);
    },
  };
  const answers = {
    metrics,
    answer: (request: IncomingMessage, response: ServerResponse): void => {
      void gateway.handle(openExchange(request, response, opening));
    },
    answerAdmin: (request: IncomingMessage, response: ServerResponse): void => {
      // this port is reached without the proxies of TRUST_PROXY: OPERATOR_ALLOW goes by an address that the caller cannot choose
      void gateway.handleAdmin(openExchange(request, response, { trustedProxies: 0, bodies, queue }));
    },
  };
  const addresses = await ports.open(answers).catch(async (error: unknown) => {
    await gateway.stop();
    await ports.closeAdmin();
    throw error;
  });
  // sign-in links and invitations name it
  if (config.PORT === 0) Object.assign(config, { PORT: Number(new URL(addresses.url).port) });
  // only a gateway that serves takes jobs, records events and sends them
  gateway.jobs.start();
  if (config.EVENTS === 'on') for (const part of [gateway.tail, gateway.webhooks]) part.start();

  async function end(reason: string | undefined): Promise<void> {
    const began = performance.now();
    const latest = began + timeouts.drain;
    logger.info({ reason, ...gateway.inHand(), connections: ports.connections() }, 'draining');
    const begun = gateway.beginDrain();
    ports.announceEnd();
    await pause(config.DRAIN_DELAY * 1000);
    await ports.finish(latest);
    const { requests, streams } = gateway.inHand();
    const cutOff = { requests, streams, connections: ports.connections() };
    await ports.destroy();
    // a database that does not respond may hold up the background work
    await Promise.race([begun, pause(Math.max(0, latest - performance.now()), undefined, { ref: false })]);
    await gateway.stop();
    await ports.closeAdmin();
    logger.info({ ms: Math.round(performance.now() - began), cut_off: cutOff }, 'stopped');
  }

  logger.info(
    {
      version,
      revision,
      node: process.version,
      url: addresses.url,
      admin_url: addresses.adminUrl,
      mongodb: databases.version,
      events: config.EVENTS,
    },
    'started',
  );
  return { ...addresses, drain: (reason) => (draining ??= end(reason)) };
}
