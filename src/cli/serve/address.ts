import { createServer } from 'node:net';
import type { Config } from '../../config';
import { CommandFailure } from '../common/failure';

type Address = Pick<Config, 'HOST' | 'PORT'>;

/** How many ports to try. */
const PORTS_TRIED = 100;

/** PORT, or the next free one; PORT if none is free. */
export async function nextFreePort({ HOST, PORT }: Address): Promise<number> {
  for (let port = PORT; port < PORT + PORTS_TRIED && port <= 65535; port += 1) {
    if (await isFree(HOST, port)) return port;
  }
  return PORT;
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    // any other error is reported by the real listen
    server.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code !== 'EADDRINUSE');
    });
    server.listen(port, host, () =>
      server.close(() => {
        resolve(true);
      }),
    );
  });
}

/** The failure to show if the address cannot be listened on. */
export function addressFailure(error: unknown, { HOST, PORT }: Address): CommandFailure | undefined {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new CommandFailure(
        `port ${String(PORT)} on ${HOST} is in use; set PORT to another port, or to 0 to pick a free one`,
      );
    case 'EACCES':
      return new CommandFailure(`no permission to listen on port ${String(PORT)}; set PORT to one above 1023`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new CommandFailure(
        `${HOST} is not an address of this machine; set HOST to one that is, e.g. 127.0.0.1 or 0.0.0.0`,
      );
    default:
      return undefined;
  }
}
