import { createServer } from 'node:net';
import type { Config } from '../../config';
import { CommandFailure } from '../common/failure';

type Address = Pick<Config, 'HOST' | 'PORT'>;

/** How far the search for a free port goes. */
const PORTS_TRIED = 100;

/** PORT, or the next one that is free; PORT again when none is. */
export async function nextFreePort({ HOST, PORT }: Address): Promise<number> {
  for (let port = PORT; port < PORT + PORTS_TRIED && port <= 65535; port += 1) {
    if (await isFree(HOST, port)) return port;
  }
  return PORT;
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    // any other fault of the address is said when it is listened on in earnest
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

/** What to do when the address cannot be listened on. */
export function addressFailure(error: unknown, { HOST, PORT }: Address): CommandFailure | undefined {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new CommandFailure(
        `port ${String(PORT)} of ${HOST} is in use; set PORT to another one, or to 0 to take a free one`,
      );
    case 'EACCES':
      return new CommandFailure(`port ${String(PORT)} may not be listened on by this user; set PORT to one above 1023`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new CommandFailure(`${HOST} is no address of this machine; set HOST to one, as 127.0.0.1 or 0.0.0.0`);
    default:
      return undefined;
  }
}
