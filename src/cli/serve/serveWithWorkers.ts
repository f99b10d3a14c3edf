import cluster from 'node:cluster';
import type { Config } from '../../config';
import { createLogger } from '../../log';
import { isAbort } from '../common/failure';
import { openStore } from '../common/open';
import { interruption } from '../common/signals';
import { note } from '../common/terminal';
import { reachClusters, serveUntilStopped } from './serveUntilStopped';
import { runWorkers } from './workers';

/** Serves with several processes until SIGTERM or SIGINT; the same command runs in each of them. */
export async function serveWithWorkers(
  config: Config,
  count: number,
  onListening: (url: string) => void,
): Promise<void> {
  if (cluster.worker) {
    const worker = String(cluster.worker.id);
    const prepare = () => Promise.resolve({ onListening: () => undefined });
    try {
      await serveUntilStopped(shareOf(config, count), prepare, { worker });
    } finally {
      // the channel to the first process would keep this one alive
      process.disconnect();
    }
    return;
  }
  const signal = interruption();
  try {
    // also keeps the embedded database running
    const store = await openStore(config, note, signal);
    try {
      await reachClusters(store, note);
      await store.control.pepper.adopt();
      const environment = { MONGODB_URI: store.server.uri };
      await runWorkers({ count, environment, logger: createLogger(config.LOG_LEVEL) }, signal, onListening);
    } finally {
      await store.close();
    }
  } catch (error) {
    // stopped while starting, which is not an error
    if (!signal.aborted || !isAbort(error)) throw error;
  }
}

/** One worker's share of what is set for the whole gateway. */
function shareOf(config: Config, count: number): Config {
  return {
    ...config,
    MAX_CONNECTIONS: Math.ceil(config.MAX_CONNECTIONS / count),
    MAX_BODY_MEMORY: Math.ceil(config.MAX_BODY_MEMORY / count),
    INSTANCES: config.INSTANCES * count,
  };
}
