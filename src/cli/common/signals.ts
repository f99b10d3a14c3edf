import { once } from 'node:events';
import { EXIT } from './failure';

/** npm and npx forward a Ctrl-C that the child already got from the terminal, so a repeat within this time (ms) is ignored. */
const SAME_PRESS = 500;

/**
 * Aborts on the first SIGINT, SIGTERM or SIGHUP; a second one exits the process immediately. A worker leaves SIGINT and
 * SIGHUP, which a terminal sends to all its processes, to the process that started it, and also stops if that one ends.
 */
export function interruption(isWorker = false): AbortSignal {
  const controller = new AbortController();
  if (isWorker) {
    const stop = (): void => {
      controller.abort();
    };
    for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
    process.on('SIGTERM', stop).on('disconnect', stop);
    return controller.signal;
  }
  let first: number | undefined;
  const onSignal = (): void => {
    const now = performance.now();
    if (first === undefined) {
      first = now;
      controller.abort();
    } else if (now - first > SAME_PRESS) {
      // the embedded database stops with this process
      process.exit(EXIT.interrupted);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  return controller.signal;
}

/** Resolves when the signal aborts. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
