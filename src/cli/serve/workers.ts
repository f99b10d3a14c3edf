import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import { shareLimits } from '../../admission/sharedLimits';
import { shareMetrics } from '../../metrics/workers';
import { within } from '../../within';
import { CommandFailure } from '../common/failure';
import { aborted } from '../common/signals';
import type { Prepared } from './serveUntilStopped';
import { sharePorts } from './sharedPorts';

/* `serve --workers`: this process shares limits and metrics between workers, which listen on one port and serve. */

/** Pause before a dead worker is replaced, in milliseconds, doubled each time one dies soon after its start. */
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 10_000;
/** A worker that lived this long, in milliseconds, had started well. */
const STARTED_WELL = 30_000;
/** A worker that has not ended by then, in milliseconds, is killed; its own drain takes at most 24 s. */
const DRAINED_WITHIN = 28_000;

/** What a worker tells when it listens, and why it does not serve. */
export type Told = Listening | { readonly scopegate: 'failed'; readonly message: string };

interface Listening {
  readonly scopegate: 'listening';
  readonly url: string;
  readonly adminUrl: string | undefined;
}

export interface WorkersOptions {
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
export async function runWorkers(
  { count, environment, logger }: WorkersOptions,
  signal: AbortSignal,
  onListening: Prepared['onListening'],
): Promise<void> {
  shareLimits();
  shareMetrics();
  sharePorts();
  const workers = new Set<Worker>();
  const interrupted = aborted(signal).then(() => {
    signal.throwIfAborted();
    return undefined;
  });
  interrupted.catch(() => undefined);
  let isStarted = false;

  /** `soonDeaths` is how many before it died soon after their start. */
  function start(soonDeaths = 0): Worker {
    const worker = cluster.fork(environment);
    const startedAt = performance.now();
    workers.add(worker);
    // a message to a worker that is ending fails
    worker.on('error', (error) => {
      logger.debug({ worker: String(worker.id), error: error.message }, 'a message did not reach a worker');
    });
    worker.on('message', (told: Told) => {
      // before that it is why this process ends
      if (isStarted && told.scopegate === 'failed') logger.error({ worker: worker.id }, told.message);
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
    // in turn, so that a fault that stops all is reported once
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

/** Resolves when a worker listens. @throws CommandFailure if it ends before */
function listening(worker: Worker): Promise<Listening> {
  return new Promise((resolve, reject) => {
    worker.on('message', (told: Told) => {
      if (told.scopegate === 'listening') resolve(told);
      if (told.scopegate === 'failed') reject(new CommandFailure(told.message));
    });
    worker.once('exit', (code: number | null, killedBy: string | null) => {
      const end = (): void => {
        reject(new CommandFailure(`a worker ended before it was listening (${String(killedBy ?? code)})`));
      };
      // its last words may still be on their way
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
    // not events.once, which fails if a message does not reach it
    await within(DRAINED_WITHIN, new Promise((resolve) => worker.once('exit', resolve)));
  } catch {
    logger.error(
      { worker: String(worker.id), worker_pid: worker.process.pid },
      'a worker did not end in time and is killed',
    );
    worker.process.kill('SIGKILL');
  }
}
