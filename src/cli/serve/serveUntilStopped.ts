import { setImmediate as turn } from 'node:timers/promises';
import type { Config } from '../../config';
import { freePort } from '../../embedded/server';
import { createFailureLog, toggleDebug } from '../../log';
import { toAppError } from '../../mongo/toAppError';
import { createPorts } from '../../gateway/ports';
import { type ServerOptions, startServer } from '../../gateway/server';
import { openTracing } from '../../tracing';
import { version } from '../../package';
import { aborted, CommandFailure, exitSoon, interruption, isAbort } from '../ending';
import { recordNames, warnOfNames } from '../ownNames';
import { chooseServer, openStoreOn, type Store } from '../store';
import { note } from '../terminal';
import { openWhenUp } from './openWhenUp';

/** What a command that serves adds to the server. */
export interface Prepared {
  /** A key that the pages fill in, for visitors on this machine only. */
  readonly demoKey?: string;
  /** Called with the server's URL, and that of its admin port if it has one, once it listens. */
  readonly onListening: (url: string, adminUrl: string | undefined) => void;
}

/** Not both, since the ports that are open while it waits are those that it keeps. */
type Start =
  | {
      /** Whether to use the next free port if the default one is taken. */
      readonly anyPort: boolean;
      readonly waits?: never;
    }
  | {
      readonly anyPort?: never;
      /** Whether to wait for a database at MONGODB_URI that is away, with open ports that say so. */
      readonly waits: boolean;
    };

export type ServeOptions = Pick<ServerOptions, 'logger'> & Start;

/**
 * Opens the database, serves until SIGTERM, SIGHUP or SIGINT, drains and closes. A signal during an earlier step also stops the
 * command, and what was opened is closed. `prepare` runs before any request is served, and again if the database goes away meanwhile.
 */
export async function serveUntilStopped(
  config: Config,
  prepare: (store: Store, signal: AbortSignal) => Promise<Prepared>,
  { anyPort = false, waits = false, ...options }: ServeOptions,
): Promise<void> {
  const { logger } = options;
  const logFailure = createFailureLog(logger);
  const signal = interruption();
  const onToggle = (): void => {
    toggleDebug(logger, config.LOG_LEVEL);
  };
  // set from the start, since without a listener this signal ends the process
  process.on('SIGUSR2', onToggle);
  /** How to close what was opened, in the order in which it was opened. */
  const closers: Closer[] = [];
  try {
    const tracing = await openTracing({
      config,
      version,
      answerOf: toAppError,
      onError: (error) => {
        logFailure('traces cannot be sent', error);
      },
    });
    closers.push(() => tracing?.stop());
    // may be stopped twice, since a store stops it, too
    const database = await chooseServer(config, note, signal);
    closers.push(() => database.stop());
    const open = async (): Promise<Opened> => {
      const store = await openStoreOn(database, config, { report: note, signal, watchClient: tracing?.watchClient });
      try {
        warnOfNames(store.lacking);
        await recordNames(store.control);
        return { store, ...(await prepare(store, signal)) };
      } catch (error) {
        await store.close();
        throw error;
      }
    };
    const ports = waits && config.MONGODB_URI !== undefined ? createPorts({ config, logger }) : undefined;
    closers.push(() => ports?.close());
    const opening = ports ? openWhenUp(open, { config, ports, logger, signal }) : open();
    const { store, onListening, demoKey } = await opening.catch(rethrowForPort(config));
    closers.push(() => store.close());
    signal.throwIfAborted();
    const PORT = anyPort ? await nextFreePort(config) : config.PORT;
    if (PORT !== config.PORT) note(`port ${String(config.PORT)} is in use; using ${String(PORT)}`);
    const { databases, control } = store;
    const server = await startServer({
      config: { ...config, PORT },
      databases,
      control,
      ...options,
      ...(ports && { ports }),
      ...(demoKey !== undefined && { demoKey }),
      ...(tracing && { tracing }),
    }).catch(rethrowForPort({ ...config, PORT }));
    closers.push(() => server.drain(signal.aborted ? (signal.reason as Error).message : undefined));
    if (server.adminUrl !== undefined) note(`health and metrics are on ${server.adminUrl}`);
    await releaseStartMemory();
    onListening(server.url, server.adminUrl);
    await aborted(signal);
    if (process.stderr.isTTY) note('\nstopping: finishing accepted requests; press Ctrl-C again to exit now');
  } catch (error) {
    // stopped while starting, which is not an error
    if (!signal.aborted || !isAbort(error)) throw error;
    // after the others, since an embedded database takes up to 2 s to close
    closers.unshift(exitSoon);
  } finally {
    try {
      await closeAll(closers);
    } finally {
      process.off('SIGUSR2', onToggle);
    }
  }
}

interface Opened extends Prepared {
  readonly store: Store;
}

type Closer = () => unknown;

/** Closes what was opened, in reverse order; a failure does not keep the others from being closed. */
async function closeAll(closers: Closer[]): Promise<void> {
  const close = closers.pop();
  if (!close) return;
  try {
    await close();
  } finally {
    await closeAll(closers);
  }
}

/** Rethrows an error, with the variable to change if a port could not be opened. */
function rethrowForPort(config: Config): (error: unknown) => never {
  return (error) => {
    throw addressFailure(error, config) ?? error;
  };
}

type Address = Pick<Config, 'HOST' | 'PORT'>;

/** How many ports to try. */
const PORTS_TRIED = 100;

/** PORT if it is free, or else the next free port; PORT if all that are tried are taken. */
async function nextFreePort({ HOST, PORT }: Address): Promise<number> {
  for (let port = PORT; port < PORT + PORTS_TRIED; port += 1)
    if ((await freePort(port, HOST)) !== undefined) return port;
  return PORT;
}

/** The failure to show for an error of listening on an address; undefined for other errors. */
function addressFailure(
  error: unknown,
  { HOST, PORT, ADMIN_HOST, ADMIN_PORT }: Address & Pick<Config, 'ADMIN_HOST' | 'ADMIN_PORT'>,
): CommandFailure | undefined {
  const isAdmin = (error as { isAdmin?: boolean }).isAdmin === true;
  const [port, host] = isAdmin ? (['ADMIN_PORT', 'ADMIN_HOST'] as const) : (['PORT', 'HOST'] as const);
  const [number, address] = isAdmin ? [ADMIN_PORT, ADMIN_HOST ?? HOST] : [PORT, HOST];
  switch ((error as NodeJS.ErrnoException).code) {
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

/**
 * Frees the memory that was only needed to start: V8 keeps what loading modules and building schemas used, a quarter of the gateway's
 * memory, until memory is short. Takes about 0.1 s in which nothing else runs, so call it before reporting that the server listens.
 */
export async function releaseStartMemory(): Promise<void> {
  // loaded here, since nothing else needs it; without it, V8 collects on request only with a flag for the whole process
  const { Session } = await import('node:inspector');
  const session = new Session();
  session.connect();
  await new Promise<void>((resolve) => {
    // resolves even if the collection failed, since the gateway works without it
    session.post('HeapProfiler.collectGarbage', () => {
      resolve();
    });
  });
  // a session cannot be disconnected in its own callback
  await turn();
  session.disconnect();
}
