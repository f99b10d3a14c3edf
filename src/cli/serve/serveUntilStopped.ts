import type { Config } from '../../config';
import { createLogger } from '../../log';
import { type RunningServer, startServer } from '../../server';
import { OldServerError } from '../../database/version';
import { isAbort, messageOf } from '../common/failure';
import { openStore, type Store } from '../common/open';
import { aborted, interruption } from '../common/signals';
import { note } from '../common/terminal';
import { addressFailure, nextFreePort } from './address';

/** What a command adds to serving. */
export interface ServeSteps<T extends { readonly demoKey?: string }> {
  /** Runs after the database is open and before the server listens. */
  prepare(store: Store, signal: AbortSignal): Promise<T>;
  /** Called when the server is listening. */
  onListening(server: RunningServer, prepared: T): void;
  /** Whether to use the next free port if PORT is in use. */
  readonly anyPort: boolean;
}

/**
 * Opens the database, serves until SIGTERM or SIGINT, drains and closes. A signal during an earlier step also stops it,
 * with everything cleaned up.
 */
export async function serveUntilStopped<T extends { readonly demoKey?: string }>(
  config: Config,
  steps: ServeSteps<T>,
): Promise<void> {
  const signal = interruption();
  try {
    const store = await openStore(config, note, signal);
    try {
      await reachClusters(store);
      const prepared = await steps.prepare(store, signal);
      signal.throwIfAborted();
      const server = await listen(store, config, prepared.demoKey, steps.anyPort);
      steps.onListening(server, prepared);
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
async function reachClusters({ databases }: Store): Promise<void> {
  const attempts = await Promise.allSettled(databases.clusters.map((cluster) => databases.reach(cluster)));
  for (const attempt of attempts) {
    if (attempt.status === 'fulfilled') continue;
    if (attempt.reason instanceof OldServerError) throw attempt.reason;
    note(`warning: ${messageOf(attempt.reason)}; its organisations get 503 until it responds`);
  }
}

async function listen(
  { databases, control }: Store,
  config: Config,
  demoKey: string | undefined,
  anyPort: boolean,
): Promise<RunningServer> {
  const PORT = anyPort ? await nextFreePort(config) : config.PORT;
  if (PORT !== config.PORT) note(`port ${String(config.PORT)} is in use; using ${String(PORT)}`);
  try {
    return await startServer({
      config: { ...config, PORT },
      databases,
      control,
      logger: createLogger(config.LOG_LEVEL),
      ...(demoKey !== undefined && { demoKey }),
    });
  } catch (error) {
    throw addressFailure(error, config) ?? error;
  }
}
