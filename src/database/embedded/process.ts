import { spawn, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { signalQuietly } from './liveness';
import { WATCHDOG_SOURCE, type WatchdogOrder } from './watchdog';

const message = z.discriminatedUnion('type', [
  z.object({ type: z.literal('started'), pid: z.number().int().positive() }),
  z.object({
    type: z.literal('exit'),
    code: z.number().nullable(),
    signal: z.string().nullable(),
    error: z.string().optional(),
  }),
]);

/** How a guarded process exited. */
export interface Exit {
  readonly code: number | null;
  /** One clause, for example "exit code 1". */
  readonly text: string;
}

/** A child that never outlives this process, however this one exits. */
export interface GuardedProcess {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** Sends SIGTERM, then SIGKILL after the grace period; resolves when the child is gone. */
  stop(): Promise<void>;
}

export interface GuardedCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Gets stdout and stderr. */
  readonly logFile: string;
  readonly graceMs?: number;
  readonly rousePort?: number;
}

/**
 * Starts a command behind a watchdog in its own session: Ctrl-C in the terminal does not reach it, so the gateway can drain
 * first, and it stops when this process's end of a pipe closes.
 */
export async function spawnGuarded(order: GuardedCommand): Promise<GuardedProcess> {
  const watched: WatchdogOrder = { graceMs: 15_000, ...order };
  const watchdog = spawn(process.execPath, ['-e', WATCHDOG_SOURCE, JSON.stringify(watched)], {
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
    windowsHide: true,
  });
  const { started, exited } = listen(watchdog);
  // a process that does not call stop() can still exit; the watchdog then stops the child
  setReferenced(watchdog, false);
  watchdog.stdin.on('error', () => undefined);

  const first = await held(watchdog, Promise.race([started, exited]));
  if (typeof first !== 'number') throw new Error(`${order.command} cannot be run: ${first.text}`);

  return {
    pid: first,
    exited,
    stop: async () => {
      watchdog.stdin.end();
      await held(watchdog, exited);
    },
  };
}

/** Runs a command until it exits; rejects if the signal aborts first. */
export async function runGuarded(order: GuardedCommand, signal?: AbortSignal): Promise<Exit> {
  signal?.throwIfAborted();
  const child = await spawnGuarded({ graceMs: 2_000, ...order });
  const onAbort = (): void => void child.stop();
  signal?.addEventListener('abort', onAbort, { once: true });
  // it may have aborted while the child was starting
  if (signal?.aborted) onAbort();
  const keepAlive = setInterval(() => undefined, 60_000);
  try {
    return await child.exited;
  } finally {
    clearInterval(keepAlive);
    signal?.removeEventListener('abort', onAbort);
    signal?.throwIfAborted();
  }
}

/** The last lines of a log, for an error message. */
export async function tailOf(logFile: string, lines = 8): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-lines).join('\n');
}

function listen(watchdog: ChildProcess): { started: Promise<number>; exited: Promise<Exit> } {
  let pid: number | undefined;
  let resolveStarted: (pid: number) => void = () => undefined;
  let resolveExited: (exit: Exit) => void = () => undefined;
  const started = new Promise<number>((resolve) => (resolveStarted = resolve));
  const exited = new Promise<Exit>((resolve) => (resolveExited = resolve));
  if (watchdog.stdout) {
    createInterface({ input: watchdog.stdout }).on('line', (line) => {
      const said = message.parse(JSON.parse(line));
      if (said.type === 'started') resolveStarted((pid = said.pid));
      else resolveExited({ code: said.code, text: said.error ?? exitText(said.code, said.signal) });
    });
  }
  watchdog.once('error', (error) => {
    resolveExited({ code: null, text: error.message });
  });
  watchdog.once('close', () => {
    // a watchdog only closes without a message if it was killed; its child must not be left behind
    if (pid !== undefined) signalQuietly(pid, 'SIGTERM');
    resolveExited({ code: null, text: 'its watchdog was killed' });
  });
  return { started, exited };
}

function exitText(code: number | null, signal: string | null): string {
  return signal ? `ended by ${signal}` : `exit code ${String(code ?? 'unknown')}`;
}

/** Keeps this process alive while waiting for the watchdog. */
async function held<T>(watchdog: ChildProcess, wait: Promise<T>): Promise<T> {
  setReferenced(watchdog, true);
  try {
    return await wait;
  } finally {
    setReferenced(watchdog, false);
  }
}

function setReferenced(watchdog: ChildProcess, referenced: boolean): void {
  const verb = referenced ? 'ref' : 'unref';
  watchdog[verb]();
  for (const pipe of [watchdog.stdin, watchdog.stdout]) if (pipe instanceof Socket) pipe[verb]();
}
