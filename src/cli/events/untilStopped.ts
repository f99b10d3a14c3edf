import { isAbort } from '../common/failure';
import { interruption } from '../common/signals';
import { note } from '../common/terminal';

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
