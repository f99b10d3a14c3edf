import { hostname } from 'node:os';
import type { Config } from '../../config';
import { describeError, toggleDebug } from '../../log';
import { toAppError } from '../../mask';
import { type RunningServer, type ServerOptions, startServer } from '../../server';
import { openTracing } from '../../tracing';
import { version } from '../../package';
import { OldServerError } from '../../database/cluster';
import { isAbort, messageOf } from '../common/failure';
import { openStore, type Store } from '../common/open';
import { aborted, interruption } from '../common/signals';
import { note, warn } from '../common/terminal';
import { addressFailure, nextFreePort } from './address';
import { releaseStartMemory } from './startMemory';

/** What a command adds to serving. */
export interface Prepared {
  readonly demoKey?: string;
  /** Called when the server is listening at a URL. */
  readonly onListening: (url: string, adminUrl: string | undefined) => void;
}

export interface ServeOptions extends Pick<ServerOptions, 'logger' | 'worker' | 'workers' | 'turnOfAcceptor'> {
  /** Whether to use the next free port from PORT. */
  readonly anyPort?: boolean;
}

/**
 * Opens the database, serves until SIGTERM or SIGINT, drains and closes. A signal during an earlier step also stops it,
 * with everything cleaned up. `prepare` runs before the server listens.
 */
export async function serveUntilStopped(
  config: Config,
  prepare: (store: Store, signal: AbortSignal) => Promise<Prepared>,
  { anyPort = false, ...options }: ServeOptions,
): Promise<void> {
  const { logger, worker } = options;
  const signal = interruption(worker !== undefined);
  const onToggle = (): void => {
    toggleDebug(logger, config.LOG_LEVEL);
  };
  // from the start, since without a listener this signal ends the process
  process.on('SIGUSR2', onToggle);
  /** Undoes what has begun, the last first. */
  const opened: Undo[] = [];
  try {
    const tracing = await openTracing({
      ...{ config, version, answerOf: toAppError },
      onError: (error) => {
        logger.warn({ error: describeError(error) }, 'traces cannot be sent');
      },
    });
    opened.push(() => tracing?.stop());
    const store = await openStore(config, note, signal, tracing?.watchClient);
    opened.push(() => store.close());
    await reachClusters(store);
    const { onListening, ...shown } = await prepare(store, signal);
    signal.throwIfAborted();
    const PORT = anyPort && config.PORT !== 0 ? await nextFreePort(config) : config.PORT;
    if (PORT !== config.PORT) note(`port ${String(config.PORT)} is in use; using ${String(PORT)}`);
    const server = await listen(store, { ...config, PORT }, { ...options, ...shown, ...(tracing && { tracing }) });
    opened.push(() => server.drain());
    if (server.adminUrl !== undefined) note(`health and metrics are on ${server.adminUrl}`);
    await releaseStartMemory();
    onListening(server.url, server.adminUrl);
    await aborted(signal);
    if (process.stderr.isTTY) note('\nstopping: finishing accepted requests; press Ctrl-C again to exit now');
  } catch (error) {
    // stopped while starting, which is not an error
    if (!signal.aborted || !isAbort(error)) throw error;
  } finally {
    try {
      await undoAll(opened);
    } finally {
      process.off('SIGUSR2', onToggle);
    }
  }
}

type Undo = () => Promise<void> | undefined;

/** The last first; one that fails keeps none from being undone. */
async function undoAll(opened: Undo[]): Promise<void> {
  const undo = opened.pop();
  if (!undo) return;
  try {
    await undo();
  } finally {
    await undoAll(opened);
  }
}

/** Connects to all clusters; those that do not respond are connected when they do. @throws OldServerError */
export async function reachClusters({ databases }: Store): Promise<void> {
  const attempts = await Promise.allSettled(databases.clusters.map((cluster) => databases.reach(cluster)));
  for (const attempt of attempts) {
    if (attempt.status === 'fulfilled') continue;
    if (attempt.reason instanceof OldServerError) throw attempt.reason;
    warn(`${messageOf(attempt.reason)}; its organisations get 503 until it responds`);
  }
}

async function listen(
  { databases, control }: Store,
  config: Config,
  options: Omit<ServerOptions, 'config' | keyof Store>,
): Promise<RunningServer> {
  const { logger } = options;
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
    const server = await startServer({ config, databases, control, ...options });
    await databases.gateways.listensAt(`${hostname()} ${server.url} ${options.worker ?? ''}`);
    return server;
  } catch (error) {
    throw addressFailure(error, config) ?? error;
  }
}
