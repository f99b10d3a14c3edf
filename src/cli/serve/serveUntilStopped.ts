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
export interface Prepared {
  readonly demoKey?: string;
  /** Called when the server is listening at a URL. */
  readonly onListening: (url: string) => void;
}

/**
 * Opens the database, serves until SIGTERM or SIGINT, drains and closes. A signal during an earlier step also stops it,
 * with everything cleaned up. `prepare` runs before the server listens; with `anyPort` that is the next free port from PORT.
 */
export async function serveUntilStopped(
  config: Config,
  prepare: (store: Store, signal: AbortSignal) => Promise<Prepared>,
  { anyPort = false } = {},
): Promise<void> {
  const signal = interruption();
  try {
    const store = await openStore(config, note, signal);
    try {
      await reachClusters(store);
      const { onListening, ...shown } = await prepare(store, signal);
      signal.throwIfAborted();
      const PORT = anyPort ? await nextFreePort(config) : config.PORT;
      if (PORT !== config.PORT) note(`port ${String(config.PORT)} is in use; using ${String(PORT)}`);
      const server = await listen(store, { ...config, PORT }, shown);
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
  shown: Pick<Prepared, 'demoKey'>,
): Promise<RunningServer> {
  try {
    return await startServer({ config, databases, control, logger: createLogger(config.LOG_LEVEL), ...shown });
  } catch (error) {
    throw addressFailure(error, config) ?? error;
  }
}
