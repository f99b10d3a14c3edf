import { hostname } from 'node:os';
import type { Config } from '../../config';
import { createLogger, describeError } from '../../log';
import { type RunningServer, startServer } from '../../server';
import { OldServerError } from '../../database/version';
import { isAbort, messageOf } from '../common/failure';
import { openStore, type Store } from '../common/open';
import { aborted, interruption } from '../common/signals';
import { note } from '../common/terminal';
import { addressFailure, nextFreePort } from './address';

/** What a command adds to serving. */
export interface Prepared {
  readonly demoKey?: string;
  /** Called when the server is listening at a URL. */
  readonly onListening: (url: string) => void;
}

export interface ServeOptions {
  /** Whether to use the next free port from PORT. */
  readonly anyPort?: boolean;
  /** Number of this worker of `serve --workers`. */
  readonly worker?: string | undefined;
}

/**
 * Opens the database, serves until SIGTERM or SIGINT, drains and closes. A signal during an earlier step also stops it,
 * with everything cleaned up. `prepare` runs before the server listens.
 */
export async function serveUntilStopped(
  config: Config,
  prepare: (store: Store, signal: AbortSignal) => Promise<Prepared>,
  { anyPort = false, worker }: ServeOptions = {},
): Promise<void> {
  const signal = interruption(worker !== undefined);
  try {
    // the process that started a worker has reported all this
    const store = await openStore(config, worker === undefined ? note : () => undefined, signal);
    try {
      await reachClusters(store, worker === undefined ? note : () => undefined);
      const { onListening, ...shown } = await prepare(store, signal);
      signal.throwIfAborted();
      const PORT = anyPort ? await nextFreePort(config) : config.PORT;
      if (PORT !== config.PORT) note(`port ${String(config.PORT)} is in use; using ${String(PORT)}`);
      const server = await listen(store, { ...config, PORT }, { ...shown, worker });
      onListening(server.url);
      await aborted(signal);
      if (process.stderr.isTTY) note('\nstopping: finishing accepted requests; press Ctrl-C again to exit now');
      await server.drain();
    } finally {
      await store.close();
    }
  } catch (error) {
    // stopped while starting, which is not an error
    if (!signal.aborted || !isAbort(error)) throw error;
  }
}

/** Connects to all clusters; those that do not respond are connected when they do. @throws OldServerError */
export async function reachClusters({ databases }: Store, report: (line: string) => void): Promise<void> {
  const attempts = await Promise.allSettled(databases.clusters.map((cluster) => databases.reach(cluster)));
  for (const attempt of attempts) {
    if (attempt.status === 'fulfilled') continue;
    if (attempt.reason instanceof OldServerError) throw attempt.reason;
    report(`warning: ${messageOf(attempt.reason)}; its organisations get 503 until it responds`);
  }
}

async function listen(
  { databases, control }: Store,
  config: Config,
  options: Pick<Prepared, 'demoKey'> & Pick<ServeOptions, 'worker'>,
): Promise<RunningServer> {
  const logger = createLogger(config.LOG_LEVEL);
  await databases.gateways.start({
    onEnded: ({ _id, place }) => {
      logger.warn({ gateway: _id, place }, 'a gateway died; its transactions were ended');
    },
    // the log already says which cluster does not respond
    onError: (error) => {
      logger.debug({ error: describeError(error) }, 'looking for dead gateways failed; will retry');
    },
  });
  try {
    const server = await startServer({ config, databases, control, logger, ...options });
    await databases.gateways.listensAt(`${hostname()} ${server.url} ${options.worker ?? ''}`);
    return server;
  } catch (error) {
    throw addressFailure(error, config) ?? error;
  }
}
