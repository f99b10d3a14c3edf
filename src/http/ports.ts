import { type AddressInfo, Server as NetServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Connections that may wait to be accepted, if the system allows it; with Node's 511, connections in a burst would be reset. */
const BACKLOG = 4096;
/** After this many turns of the event loop without a new connection, none is waiting; each turn accepts one. */
const QUIET_TURNS = 5;
/** Maximum time for that, in milliseconds; a busy server with a long queue needs seconds. */
const ACCEPT_WITHIN = 5000;

/** Listens, and returns the URL: http://HOST:PORT. Port 0 picks a free one. @throws the system's error, e.g. EADDRINUSE */
export async function listen(server: NetServer, host: string, port: number): Promise<string> {
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

/**
 * Closes the port once connections that the system has already opened are accepted, because that would reset them. `turn` waits for a turn
 * of the event loop that accepts them.
 */
export async function stopListening(server: NetServer, turn: () => Promise<unknown> = nextTurn): Promise<void> {
  let quiet = 0;
  const onConnection = (): void => {
    quiet = 0;
  };
  server.on('connection', onConnection);
  const latest = performance.now() + ACCEPT_WITHIN;
  for (; quiet < QUIET_TURNS && performance.now() < latest; quiet += 1) await turn();
  server.off('connection', onConnection);
  // http's own close would destroy idle connections at once, including those on which a request is arriving
  NetServer.prototype.close.call(server);
}
