import { setTimeout as sleep } from 'node:timers/promises';
import { isAbort } from '../common/failure';
import { interruption } from '../common/signals';
import { note, plain } from '../common/terminal';

/* What both commands that follow events need: they end by Ctrl-C or when nobody reads their output, which are no faults. */

/** Runs `work` until it ends, a signal comes, or the reader of stdout has gone (`| head -1`). */
export async function untilStopped(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const unread = new AbortController();
  const onError = (): void => {
    unread.abort();
  };
  process.stdout.on('error', onError);
  const signal = AbortSignal.any([interruption(), unread.signal]);
  try {
    await work(signal);
  } catch (error) {
    if (!signal.aborted || !isAbort(error)) throw error;
  } finally {
    process.stdout.off('error', onError);
  }
}

/** Writes a line to stdout, and waits while its reader is slow. @throws AbortError */
export async function writeLine(line: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (process.stdout.write(`${plain(line)}\n`)) return;
  // not once(…, 'drain'), which would throw the error of a closed pipe
  await new Promise<void>((resolve, reject) => {
    const settle = (): void => {
      process.stdout.off('drain', settle);
      signal.removeEventListener('abort', settle);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve();
    };
    process.stdout.on('drain', settle);
    signal.addEventListener('abort', settle);
  });
}

/** Waits for a number of milliseconds. @throws AbortError */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal });
}

/** Says on stderr what is wrong, once, and when it is over. */
export function createTrouble() {
  let told: string | undefined;
  return {
    is(what: string | undefined): void {
      if (what !== told) note(what ?? 'going on');
      told = what;
    },
  };
}
