import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { MINUTE, SECOND } from '../units';
import type { RunningServer } from './server';

/* Starts a server again that has ended by itself: its disk was full, the machine was out of memory, or it failed. */

/** How long to wait before each start, in milliseconds; after the last, somebody has to find out why it ends. */
const PAUSES = [1, 2, 4, 8, 16, 32, 60, 60, 60, 60].map((seconds) => seconds * SECOND);
/** A server that has run for this long counts as sound, in milliseconds: the pauses begin anew. */
const SOUND = 10 * MINUTE;

export interface RestartOptions {
  /** Starts it again; undefined while one runs that another process has started, and will stop. */
  readonly start: () => Promise<RunningServer | undefined>;
  /** Called with one line of plain text for the user. */
  readonly report: (line: string) => void;
  /** Aborts before the server is stopped on purpose. */
  readonly signal: AbortSignal;
  /** Overrides of the pauses, for tests. */
  readonly pauses?: readonly number[] | undefined;
}

/** Keeps a server running until the signal aborts or it has failed too often. Never rejects. */
export async function keepRunning(
  first: RunningServer,
  { start, report, signal, pauses = PAUSES }: RestartOptions,
): Promise<void> {
  const aborted = once(signal, 'abort').then(() => undefined);
  let server: RunningServer | undefined = first;
  let attempts = 0;
  while (server) {
    const began = performance.now();
    const exit = await Promise.race([server.exited, aborted]);
    if (!exit) return;
    let reason = exit.text;
    if (performance.now() - began > SOUND) attempts = 0;
    server = undefined;
    for (; !server && !signal.aborted; attempts += 1) {
      const wait = pauses[attempts];
      const ended = `database: the server ended unexpectedly (${reason})`;
      if (wait === undefined) {
        report(
          `${ended} and was started again in vain (attempts: ${String(attempts)}); mend the cause, then restart this process`,
        );
        return;
      }
      report(`${ended}; starting it again in ${String(wait / SECOND)} s`);
      try {
        await pause(wait, undefined, { signal, ref: false });
        // while another process's server runs, it may end at any time
        while (!(server = await start())) await pause(pauses[0], undefined, { signal, ref: false });
        report('database: the server is running again');
      } catch (error) {
        reason = (error as Error).message;
      }
    }
  }
}
