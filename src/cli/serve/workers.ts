import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import { shareLimits } from '../../admission/sharedLimits';
import type { Config } from '../../config';
import { shareMetrics } from '../../metrics/workers';
import { within } from '../../within';
import { ask, onAsked } from '../../workerChannel';
import { aborted, CommandFailure, interruption, isAbort, messageOf } from '../ending';
import { openStore, type Store } from '../store';
import { note, sendStderrTo } from '../terminal';
import { closeUntakenConnections } from './untakenConnections';
import { nextFreePort, type Prepared, reachClusters, serveUntilStopped } from './serveUntilStopped';

/*
 * `serve --workers`: the first process accepts connections and hands them to the workers, as node:cluster does, shares limits and metrics
 * between them, and replaces those that die (docs/decisions/workers.md).
 */

/** A worker's request to the first process for an answer in the next turn of its event loop, which accepts one connection per turn. */
const TURN = 'turn';
/** Longest wait for a turn, in milliseconds: less than the time in which the last connections must be accepted. */
const TURN_WITHIN = 1000;

/** Pause before a dead worker is replaced, in milliseconds; doubled each time its replacement dies soon after its start. */
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 10_000;
/** A worker that lived at least this long, in milliseconds, did not die soon after its start. */
const STARTED_WELL = 30_000;
/** A worker that has not drained within this time, in milliseconds, is killed; its own drain takes at most 24 s. */
const DRAINED_WITHIN = 28_000;

/** What a worker reports to the first process: that it listens, or why it could not start or go on. */
type Report = Listening | { readonly scopegate: 'failed'; readonly message: string };

interface Listening {
  readonly scopegate: 'listening';
  readonly url: string;
  readonly adminUrl: string | undefined;
}

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
    // kept open, so that the embedded database keeps running
    const store = await openStore(config, note, signal);
    try {
      await reachClusters(store);
      await prepare(store);
      const environment = { MONGODB_URI: store.server.uri, MONGODB_URI_FILE: '', ...(await freePorts(config)) };
      await runWorkers({ count, environment, logger }, signal, onListening);
    } finally {
      await store.close();
    }
  } catch (error) {
    // stopped while starting, which is not an error
    if (!signal.aborted || !isAbort(error)) throw error;
  }
}

/** Free ports to use instead of 0, so that the replacement of a dead worker listens on the same port. */
async function freePorts({ HOST, PORT, ADMIN_HOST = HOST, ADMIN_PORT }: Config): Promise<Record<string, string>> {
  const free = async (host: string): Promise<string> => String(await nextFreePort({ HOST: host, PORT: 0 }));
  const [port, adminPort] = await Promise.all([PORT === 0 && free(HOST), ADMIN_PORT === 0 && free(ADMIN_HOST)]);
  return { ...(port && { PORT: port }), ...(adminPort && { ADMIN_PORT: adminPort }) };
}

interface WorkersOptions {
  readonly count: number;
  /** Variables for the workers: the URI of the database that this process started or found. */
  readonly environment: Readonly<Record<string, string>>;
  readonly logger: Logger;
}

/**
 * Starts the workers and replaces those that die until the signal aborts; then drains all of them. `onListening` is called
 * when all are listening.
 * @throws the signal's reason; CommandFailure if a worker ends before it listens for the first time
 */
async function runWorkers(
  { count, environment, logger }: WorkersOptions,
  signal: AbortSignal,
  onListening: Prepared['onListening'],
): Promise<void> {
  shareLimits();
  shareMetrics();
  onAsked(TURN, () => null);
  const workers = new Set<Worker>();
  const watch = closeUntakenConnections(workers);
  const interrupted = aborted(signal).then(() => {
    signal.throwIfAborted();
    return undefined;
  });
  interrupted.catch(() => undefined);
  let isStarted = false;

  /** Starts a worker. If it dies soon after that, the pause before its replacement is doubled `soonDeaths` times. */
  function start(soonDeaths = 0): Worker {
    const worker = cluster.fork(environment);
    const startedAt = performance.now();
    workers.add(worker);
    watch(worker);
    // a message to a worker that is ending fails
    worker.on('error', (error) => {
      logger.debug({ worker: String(worker.id), error: error.message }, 'a message did not reach a worker');
    });
    worker.on('message', (report: Report) => {
      // before all have started, a failed worker makes this process fail
      if (isStarted && report.scopegate === 'failed') logger.error({ worker: worker.id }, report.message);
    });
    worker.once('exit', (code: number | null, killedBy: string | null) => {
      workers.delete(worker);
      if (signal.aborted || !isStarted) return;
      const { id, process } = worker;
      logger.error(
        { worker: String(id), worker_pid: process.pid, code, signal: killedBy },
        'a worker died; replacing it',
      );
      const deaths = performance.now() - startedAt > STARTED_WELL ? 0 : soonDeaths;
      const wait = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** deaths);
      setTimeout(() => {
        if (!signal.aborted) start(deaths + 1);
      }, wait).unref();
    });
    return worker;
  }

  const onToggle = (): void => {
    for (const worker of workers) worker.process.kill('SIGUSR2');
  };
  process.on('SIGUSR2', onToggle);
  try {
    // started one after another, so that an error that stops all of them is reported once
    let last: Listening | undefined;
    while (workers.size < count) last = await Promise.race([listening(start()), interrupted]);
    isStarted = true;
    if (last) onListening(last.url, last.adminUrl);
    await interrupted;
  } finally {
    process.off('SIGUSR2', onToggle);
    await Promise.all([...workers].map((worker) => drain(worker, logger)));
  }
}

/** Resolves when a worker listens. @throws CommandFailure if it fails or ends before that */
function listening(worker: Worker): Promise<Listening> {
  return new Promise((resolve, reject) => {
    worker.on('message', (report: Report) => {
      if (report.scopegate === 'listening') resolve(report);
      if (report.scopegate === 'failed') reject(new CommandFailure(report.message));
    });
    worker.once('exit', (code: number | null, killedBy: string | null) => {
      const end = (): void => {
        reject(new CommandFailure(`a worker ended before it was listening (${String(killedBy ?? code)})`));
      };
      // its last message may still arrive
      if (worker.isConnected()) worker.once('disconnect', end);
      else end();
    });
  });
}

/** Lets a worker finish its accepted requests; kills it if it does not end in time. */
async function drain(worker: Worker, logger: Logger): Promise<void> {
  if (worker.isDead()) return;
  worker.process.kill('SIGTERM');
  try {
    // not events.once, which rejects if a message does not reach the worker
    await within(DRAINED_WITHIN, new Promise((resolve) => worker.once('exit', resolve)));
  } catch {
    logger.error(
      { worker: String(worker.id), worker_pid: worker.process.pid },
      'a worker did not end in time and is killed',
    );
    worker.process.kill('SIGKILL');
  }
}

/** Serves as one of the workers. */
async function work(
  config: Config,
  worker: string,
  workers: number,
  { logger, prepare }: Pick<WithWorkers, 'logger' | 'prepare'>,
): Promise<void> {
  // the first process reports everything else
  sendStderrTo((level, line) => {
    if (level === 'error') logger.error(line);
  });
  const send = (message: Report): Promise<Error | null> =>
    new Promise((resolve) => {
      process.send?.(message, undefined, undefined, resolve);
    });
  try {
    const onListening = (url: string, adminUrl: string | undefined): void => {
      void send({ scopegate: 'listening', url, adminUrl });
    };
    // run in each worker, which must know the number of its pepper to rehash keys
    const prepareOne = async (store: Store) => ({ ...(await prepare(store)), onListening });
    // if the first process does not answer, its queue counts as empty
    const turnOfAcceptor = (): Promise<unknown> => ask(TURN, undefined, TURN_WITHIN).catch(() => undefined);
    await serveUntilStopped(config, prepareOne, { logger, worker, workers, turnOfAcceptor });
  } catch (error) {
    // the first process reports it, unless it is gone
    if ((await send({ scopegate: 'failed', message: messageOf(error) })) === null) sendStderrTo(() => undefined);
    throw error;
  } finally {
    // the channel to the first process would keep this one alive
    process.disconnect();
  }
}

/** The settings of one worker: its share of limits that are set for the whole gateway. */
function shareOf(config: Config, count: number): Config {
  return {
    ...config,
    MAX_CONNECTIONS: Math.ceil(config.MAX_CONNECTIONS / count),
    MAX_BODY_MEMORY: Math.ceil(config.MAX_BODY_MEMORY / count),
    INSTANCES: config.INSTANCES && config.INSTANCES * count,
  };
}
