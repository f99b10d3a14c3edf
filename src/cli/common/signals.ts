import { EXIT } from './failure';

/** npm and npx pass a Ctrl-C on to a child that had it from the terminal already, so a repeat this soon is the same one. */
const SAME_PRESS = 500;

/** Aborts on the first SIGINT or SIGTERM; a second one ends the process at once. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  let first: number | undefined;
  const onSignal = (): void => {
    const now = performance.now();
    if (first === undefined) {
      first = now;
      controller.abort();
    } else if (now - first > SAME_PRESS) {
      // the embedded database ends with this process
      process.exit(EXIT.interrupted);
    }
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return controller.signal;
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else
      signal.addEventListener(
        'abort',
        () => {
          resolve();
        },
        { once: true },
      );
  });
}
