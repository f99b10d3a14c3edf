import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Config } from '../../config';
import { CommandFailure } from '../common/failure';

type Address = Pick<Config, 'HOST' | 'PORT'>;

/** How many ports to try. */
const PORTS_TRIED = 100;

/** PORT, or the next free one, or any for 0; PORT if none is free. */
export async function nextFreePort({ HOST, PORT }: Address): Promise<number> {
  for (let port = PORT; port < PORT + PORTS_TRIED && port <= 65535; port += 1) {
    const server = createServer().listen(port, HOST);
    try {
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    } catch (error) {
      // any other error is reported by the real listen
      if (codeOf(error) !== 'EADDRINUSE') return port;
    } finally {
      server.close();
    }
  }
  return PORT;
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** The failure to show if an address cannot be listened on. */
export function addressFailure(
  error: unknown,
  { HOST, PORT, ADMIN_HOST, ADMIN_PORT }: Address & Pick<Config, 'ADMIN_HOST' | 'ADMIN_PORT'>,
): CommandFailure | undefined {
  const isAdmin = (error as { isAdmin?: boolean }).isAdmin === true;
  const [port, host] = isAdmin ? (['ADMIN_PORT', 'ADMIN_HOST'] as const) : (['PORT', 'HOST'] as const);
  const [number, address] = isAdmin ? [ADMIN_PORT, ADMIN_HOST ?? HOST] : [PORT, HOST];
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new CommandFailure(
        `port ${String(number)} on ${address} is in use; set ${port} to another port, or to 0 to pick a free one`,
      );
    case 'EACCES':
      return new CommandFailure(`no permission to listen on port ${String(number)}; set ${port} to one above 1023`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new CommandFailure(
        `${address} is not an address of this machine; set ${host} to one that is, e.g. 127.0.0.1 or 0.0.0.0`,
      );
    default:
      return undefined;
  }
}
