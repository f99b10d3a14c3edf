import { randomInt } from 'node:crypto';
import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, closeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { ending, onEnd } from './cleanup';

/** A process started by this run; signals are sent only to its id. */
export interface Started {
  readonly pid: number;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Whether the signal was sent; false if the process has ended. */
  signal(signal: NodeJS.Signals): boolean;
  /** SIGTERM, then SIGKILL after `graceMs`. */
  stop(graceMs?: number): Promise<void>;
}

export interface StartOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Gets stderr, and stdout too unless `readyWhen` is set. */
  readonly logFile: string;
  /** The process is ready once a line of stdout matches this. */
  readonly readyWhen?: RegExp;
  readonly timeoutMs?: number;
  /** Time between SIGTERM and SIGKILL when the run ends, in milliseconds; 5 s by default. */
  readonly graceMs?: number;
}

/** Starts a program and waits until it is ready. */
export async function startProcess(command: string, args: readonly string[], options: StartOptions): Promise<Started> {
  ending.throwIfAborted();
  const log = openSync(options.logFile, 'a');
  const stdout = options.readyWhen ? 'pipe' : log;
  const child = spawn(command, args, { env: options.env, stdio: ['ignore', stdout, log] });
  closeSync(log);
  const started = await wrap(command, child, options.graceMs);
  if (options.readyWhen) await saysReady(command, child, started, options.readyWhen, options.timeoutMs ?? 60_000);
  return started;
}

async function wrap(command: string, child: ChildProcess, lastGraceMs = 5000): Promise<Started> {
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (code, signal) => {
      resolve({ code, signal });
    });
  });
  const { pid } = await new Promise<ChildProcess>((resolve, reject) => {
    child.once('spawn', () => {
      resolve(child);
    });
    child.once('error', reject);
  });
  if (pid === undefined) throw new Error(`${command} did not start`);
  const forget = onEnd(`${command} (${String(pid)})`, () => stop(lastGraceMs));
  void exited.then(forget);

  async function stop(graceMs = 15_000): Promise<void> {
    // a paused process does not handle SIGTERM
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
    await exited;
    clearTimeout(timer);
  }

  return { pid, exited, signal: (name) => child.kill(name), stop };
}

async function saysReady(
  command: string,
  child: ChildProcess,
  started: Started,
  pattern: RegExp,
  timeoutMs: number,
): Promise<void> {
  const { stdout } = child;
  if (!stdout) return;
  let timer: NodeJS.Timeout | undefined;
  const ready = new Promise<string>((resolve) => {
    createInterface({ input: stdout }).on('line', (line) => {
      if (pattern.test(line)) resolve('ready');
    });
  });
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, `not ready after ${String(timeoutMs)} ms`);
  });
  const ended = started.exited.then(({ code, signal }) => `it exited (${String(signal ?? code)})`);
  const outcome = await Promise.race([ready, late, ended]);
  clearTimeout(timer);
  if (outcome === 'ready') return;
  await started.stop(1000);
  throw new Error(`${command} failed to start: ${outcome}`);
}

/** Runs a program to completion and returns its stdout; throws with its output if it fails. */
export async function runToEnd(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const forget = onEnd(command, () => void child.kill('SIGTERM'));
  child.once('close', () => void forget());
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (err += chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve);
    child.once('error', reject);
  });
  if (code !== 0)
    throw new Error(
      `${command} ${args.join(' ')} exited with ${String(code)}: ${(err.trim() || out.trim()).slice(0, 2000)}`,
    );
  return out;
}

const usedPorts = new Set<number>();

/**
 * A free port below the ephemeral range, so that it stays free while its server is down. It is chosen at random, or programs that run at the
 * same time would find the same one free.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 1000; tries += 1) {
    const port = randomInt(21_000, 32_000);
    if (usedPorts.has(port) || !(await isFree(port))) continue;
    usedPorts.add(port);
    return port;
  }
  throw new Error('no port from 21000 to 32000 is free');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen(port, '127.0.0.1', () =>
      server.close(() => {
        resolve(true);
      }),
    );
  });
}

/** Resident memory in MiB; undefined without /proc. */
export async function residentMiB(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${String(pid)}/status`, 'utf8').catch(() => '');
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1];
  return kib === undefined ? undefined : Number(kib) / 1024;
}
