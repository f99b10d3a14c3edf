import type { Server } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

/** Which port: that of the APIs and pages (PORT), or that of health and metrics alone (ADMIN_PORT). */
export type PortName = 'PORT' | 'ADMIN_PORT';

/** Where a server wants its connections from. */
export interface PortWish {
  readonly name: PortName;
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
}

/** A port that gives its connections to a server. */
export interface OpenPort {
  /** http://HOST:PORT */
  readonly url: string;
  /** Stops accepting; the server has been given all connections that the system had accepted. */
  close(): Promise<void>;
}

/** @throws the system's error, e.g. EADDRINUSE */
export type PortOpener = (server: Server, wish: PortWish) => Promise<OpenPort>;

/** Connections that may wait to be accepted, if the system allows it; with Node's 511, connections in a burst would be reset. */
const BACKLOG = 4096;
/** After this many turns of the event loop without a new connection, none is waiting; each turn accepts one. */
const QUIET_TURNS = 5;
/** Maximum time for that, in milliseconds; a busy server with a long queue needs seconds. */
export const ACCEPT_WITHIN = 5000;

/** A port of this process alone. */
export const ownPort: PortOpener = async (server, wish) => ({
  url: await listen(server, wish),
  close: () => stopListening(server),
});

/** Returns the URL. @throws the system's error */
export async function listen(server: NetServer, { host, port }: Pick<PortWish, 'host' | 'port'>): Promise<string> {
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

/** Closes the port once connections that the system has already opened are accepted, because that would reset them. */
export async function stopListening(server: NetServer): Promise<void> {
  await acceptWaiting(server);
  // http's own close would destroy idle connections at once, including those on which a request is arriving
  NetServer.prototype.close.call(server);
}

/** Accepts the connections that the system has already opened. */
export async function acceptWaiting(server: NetServer): Promise<void> {
  let quiet = 0;
  const onConnection = (): void => {
    quiet = 0;
  };
  server.on('connection', onConnection);
  const latest = performance.now() + ACCEPT_WITHIN;
  for (; quiet < QUIET_TURNS && performance.now() < latest; quiet += 1) await turn();
  server.off('connection', onConnection);
}
