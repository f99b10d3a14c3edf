import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROGRAM } from '../support/built';
import { type CommandServer, type Finished, startCommandServer } from '../support/commandServer';

const ROOT = join(__dirname, '..', '..');

/** The example data that `demo` loads. */
export const NORTHWIND = join(ROOT, 'examples', 'northwind');
/** An id that does not exist. */
export const NOBODY = '00000000-0000-4000-8000-000000000000';

export type { Finished };

export type Environment = Readonly<Record<string, string>>;

let server: Promise<CommandServer> | undefined;
const running = new Set<ChildProcess>();
afterAll(async () => {
  // a failed test leaves its commands, which would keep the run from ending
  for (const child of running) child.kill('SIGTERM');
  await (await server)?.stop();
});

/** The command line with a separate control database. */
export interface CommandLine {
  readonly controlDatabase: string;
  readonly environment: Environment;
  /** Runs a command to completion, in a process shared with other commands. */
  run(...args: string[]): Promise<Finished>;
  /** The same in a separate process, for tests that need one. */
  spawned(...args: string[]): Promise<Finished>;
  /** Runs a command with --json, which must succeed, and parses its output. */
  json<T>(...args: string[]): Promise<T>;
  /** Runs a command that must exit with this code and print nothing to stdout. Returns what it says on stderr. */
  failed(code: number, ...args: string[]): Promise<string>;
  /** Starts a command that keeps running. */
  start(args: string[], more?: Environment): ChildProcess;
}

export function commandLine(more: Environment = {}): CommandLine {
  const controlDatabase = `cli_${randomBytes(6).toString('hex')}`;
  const environment = { MONGODB_URI: process.env.TEST_MONGODB_URI ?? '', CONTROL_DATABASE: controlDatabase, ...more };
  const start = (args: string[], others: Environment = {}): ChildProcess =>
    spawnCommand(args, { ...environment, ...others });
  const run = async (...args: string[]): Promise<Finished> => {
    server ??= startCommandServer();
    return (await server).run(args, basic(environment), ROOT);
  };
  return {
    controlDatabase,
    environment,
    run,
    spawned: (...args) => finished(start(args)),
    start,
    async failed(code, ...args) {
      const { stderr, ...rest } = await run(...args);
      expect(rest).toEqual({ code, stdout: '' });
      return stderr;
    },
    async json<T>(...args: string[]): Promise<T> {
      const { code, stdout, stderr } = await run(...args, '--json');
      if (code !== 0) throw new Error(`scopegate ${args.join(' ')} exited with ${String(code)}: ${stderr}`);
      return JSON.parse(stdout) as T;
    },
  };
}

/** The full command line of a command. */
export function commandOf(args: readonly string[]): string[] {
  return [process.execPath, PROGRAM, ...args];
}

/** An environment with only PATH and HOME of the tests' own. */
function basic(environment: Environment): Environment {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, ...environment };
}

function spawnCommand(args: readonly string[], environment: Environment): ChildProcess {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: ROOT,
    env: basic(environment),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

/** A child's output and exit code. */
export async function finished(child: ChildProcess): Promise<Finished> {
  let [stdout, stderr] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}

/** The first line that a child prints to stdout. */
export function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let [stdout, stderr] = ['', ''];
    child.stderr?.on('data', (bytes: Buffer) => (stderr += bytes.toString()));
    child.stdout?.on('data', (bytes: Buffer) => {
      stdout += bytes.toString();
      const end = stdout.indexOf('\n');
      if (end !== -1) resolve(stdout.slice(0, end));
    });
    child.once('close', (code) => {
      reject(new Error(`exited with ${String(code)} before printing a line: ${stderr}`));
    });
  });
}

export interface Served {
  readonly child: ChildProcess;
  readonly url: string;
  readonly adminUrl: string;
  /** What it has written so far. */
  readonly stderr: () => string;
  /** Once it has ended. */
  readonly end: Promise<Finished>;
  /** Ends it by SIGTERM, of which a second one would not wait for requests. */
  readonly stop: () => Promise<Finished>;
}

/** Starts `serve` on a free port, and waits until it listens. */
export async function serve(cli: CommandLine, args: readonly string[] = [], more: Environment = {}): Promise<Served> {
  const child = cli.start(['serve', '--json', ...args], { PORT: '0', ...more });
  const end = finished(child);
  let stderr = '';
  child.stderr?.on('data', (text: string) => (stderr += text));
  const { url, admin_url: adminUrl } = JSON.parse(await firstLine(child)) as { url: string; admin_url: string };
  const stop = (): Promise<Finished> => {
    child.kill('SIGTERM');
    return end;
  };
  return { child, url, adminUrl, stderr: () => stderr, end, stop };
}

/** What doctor says. */
export interface Diagnosis {
  readonly ok: boolean;
  readonly checks: readonly { name: string; ok: boolean; detail: string; fix?: string }[];
}

/** One of doctor's checks. */
export async function checkOf(cli: CommandLine, check: string): Promise<unknown> {
  const { checks } = JSON.parse((await cli.run('doctor', '--json')).stdout) as Diagnosis;
  return checks.find(({ name }) => name === check);
}

/** Creates a key with every scope, unless the arguments say otherwise. */
export function makeKey(cli: CommandLine, org: string, ...more: string[]): Promise<{ id: string; key: string }> {
  const scopes = more.includes('--scopes') ? [] : ['--scopes', 'all'];
  return cli.json('key', 'create', '--org', org, '--name', 'key', ...scopes, ...more);
}

export const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'scopegate-cli-'));

/** Creates an organisation. */
export function makeOrganisation(
  cli: CommandLine,
  name = 'Northwind Traders',
): Promise<{ id: string; name: string; plan: string; created_at: string }> {
  return cli.json('org', 'create', '--name', name);
}
