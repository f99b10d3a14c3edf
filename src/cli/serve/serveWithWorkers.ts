import cluster from 'node:cluster';
import type { Logger } from 'pino';
import type { Config } from '../../config';
import { isAbort, messageOf } from '../common/failure';
import { openStore, type Store } from '../common/open';
import { interruption } from '../common/signals';
import { note, speakThrough } from '../common/terminal';
import { type Prepared, reachClusters, serveUntilStopped } from './serveUntilStopped';
import { portOfFirstProcess } from './sharedPorts';
import { runWorkers, type Told } from './workers';

interface WithWorkers extends Prepared {
  readonly logger: Logger;
  readonly prepare: (store: Store) => Promise<Prepared>;
}

/** Serves with several processes until SIGTERM, SIGHUP or SIGINT; the same command runs in each of them. */
export async function serveWithWorkers(
  config: Config,
  count: number,
  { logger, prepare, onListening }: WithWorkers,
): Promise<void> {
  if (cluster.worker) {
    await work(shareOf(config, count), String(cluster.worker.id), count, { logger, prepare });
    return;
  }
  const signal = interruption();
  try {
    // also keeps the embedded database running
    const store = await openStore(config, note, signal);
    try {
      await reachClusters(store);
      await prepare(store);
      const environment = { MONGODB_URI: store.server.uri, MONGODB_URI_FILE: '' };
      await runWorkers({ count, environment, logger }, signal, onListening);
    } finally {
      await store.close();
    }
  } catch (error) {
    // stopped while starting, which is not an error
    if (!signal.aborted || !isAbort(error)) throw error;
  }
}

/** Serves as one of the workers. */
async function work(
  config: Config,
  worker: string,
  workers: number,
  { logger, prepare }: Pick<WithWorkers, 'logger' | 'prepare'>,
): Promise<void> {
  // the first process has said everything else
  speakThrough((level, line) => {
    if (level === 'error') logger.error(line);
  });
  const tell = (message: Told): Promise<Error | null> =>
    new Promise((resolve) => {
      process.send?.(message, undefined, undefined, resolve);
    });
  try {
    const onListening = (url: string, adminUrl: string | undefined): void => {
      void tell({ scopegate: 'listening', url, adminUrl });
    };
    // each has to know the number of its pepper, or it would hash no key anew
    const prepareOne = async (store: Store) => ({ ...(await prepare(store)), onListening });
    await serveUntilStopped(config, prepareOne, { logger, worker, workers, openPort: portOfFirstProcess });
  } catch (error) {
    // the first process says it, unless it is gone
    if ((await tell({ scopegate: 'failed', message: messageOf(error) })) === null) speakThrough(() => undefined);
    throw error;
  } finally {
    // the channel to the first process would keep this one alive
    process.disconnect();
  }
}

/** One worker's share of what is set for the whole gateway. */
function shareOf(config: Config, count: number): Config {
  return {
    ...config,
    MAX_CONNECTIONS: Math.ceil(config.MAX_CONNECTIONS / count),
    MAX_BODY_MEMORY: Math.ceil(config.MAX_BODY_MEMORY / count),
    INSTANCES: config.INSTANCES && config.INSTANCES * count,
  };
}
