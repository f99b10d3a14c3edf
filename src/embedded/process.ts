import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * The watchdog's program: runs one child, and stops it when told to or when the channel to its parent closes, which the kernel does even if the
 * parent gets SIGKILL; database servers do not watch their parent. Plain JavaScript for `node -e`: as a string it works the same from TypeScript,
 * from the build and under jest. Sends {pid} when the child has started, and an {@link Exit} when it has ended.
 */
export const WATCHDOG_SOURCE = `
const { spawn } = require('node:child_process');
const { command, args, graceMs } = JSON.parse(process.argv[1]);
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], windowsHide: true });
let stopping = false;
const stop = () => {
  if (stopping) return;
  stopping = true;
  child.kill('SIGTERM');
  setTimeout(() => child.kill('SIGKILL'), graceMs);
};
const end = (code, text) => process.send({ code, text }, () => process.exit());
child.on('error', (error) => { if (child.pid === undefined) end(null, error.message); });
child.on('exit', (code, signal) => end(code, signal ? 'ended by ' + signal : 'exit code ' + code));
if (child.pid !== undefined) process.send({ pid: child.pid }, () => {});
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP', 'message', 'disconnect']) process.on(name, stop);
`;

/** How long a command may take to end after SIGTERM, by default: much longer than a server takes to close its storage (index.ts). */
export const GRACE_MS = 15_000;
/** How long the kernel may take to end a process after SIGKILL. */
const KILLED_MS = 5_000;

interface Exit {
  /** Null unless the child ended by itself. */
  readonly code: number | null;
  /** One clause, for example "exit code 1". */
  readonly text: string;
}

interface GuardedCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Gets stdout and stderr. */
  readonly logFile: string;
  /** Milliseconds from SIGTERM to SIGKILL, for a server to close its storage. */
  readonly graceMs?: number;
}

/**
 * Starts a command behind a watchdog in its own session: Ctrl-C in the terminal does not reach it, so the gateway can drain
 * first, and it stops when this process's end of the channel closes, however this process exits. @throws Error if it cannot be run, or its
 * log cannot be opened
 */
export async function spawnGuarded({ command, args, logFile, graceMs = GRACE_MS }: GuardedCommand) {
  const log = openSync(logFile, 'a');
  const watchdog = spawn(process.execPath, ['-e', WATCHDOG_SOURCE, JSON.stringify({ command, args, graceMs })], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
    windowsHide: true,
  });
  closeSync(log);
  let pid: number | undefined;
  let hasExited = false;
  const exited = new Promise<Exit>((resolve) => {
    watchdog.on('message', (message: { readonly pid: number } | Exit) => {
      if ('pid' in message) ({ pid } = message);
      else {
        hasExited = true;
        resolve(message);
      }
    });
    watchdog.once('error', (error) => {
      resolve({ code: null, text: error.message });
    });
    watchdog.once('disconnect', () => {
      if (hasExited) return;
      // a watchdog that was killed has said nothing; its child must not be left behind
      const ending = pid === undefined ? Promise.resolve() : endProcess(pid, graceMs);
      void ending.then(() => {
        resolve({ code: null, text: 'its watchdog was killed' });
      });
    });
  });
  // whichever is first: if the child ended at once, its pid was sent before
  await Promise.race([exited, once(watchdog, 'message')]);
  if (pid === undefined) throw new Error(`${command} cannot be run: ${(await exited).text}`);

  return {
    pid,
    exited,
    /** Lets this process end without calling `stop`; the watchdog then stops the child. */
    unref(): void {
      watchdog.unref();
      watchdog.channel?.unref();
    },
    /** Sends SIGTERM, then SIGKILL after the grace period; resolves when the child is gone. */
    async stop(): Promise<void> {
      watchdog.ref();
      watchdog.channel?.ref();
      watchdog.send('stop', () => undefined);
      await exited;
    },
  };
}

/** Whether a process with this pid exists, including one of another user (EPERM). */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Signals a process that may have exited already. */
export function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // already gone
  }
}

/** Sends SIGTERM, then SIGKILL after the grace period. Resolves when the process is gone, or cannot be ended. */
async function endProcess(pid: number, graceMs: number): Promise<void> {
  signalQuietly(pid, 'SIGTERM');
  if (await waitUntilGone(pid, graceMs)) return;
  signalQuietly(pid, 'SIGKILL');
  await waitUntilGone(pid, KILLED_MS);
}

/** Waits until the process is gone; false if it still runs after `timeoutMs`. @throws AbortError */
export async function waitUntilGone(pid: number, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (isAlive(pid)) {
    if (performance.now() > deadline) return false;
    await pause(25, undefined, { signal });
  }
  return true;
}
