import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../api/http/eventually';
import { PROGRAM } from '../support/built';
import { type CommandServer, type Finished, startCommandServer } from '../support/commandServer';
import { oldServers } from '../support/oldServers';

const ROOT = join(__dirname, '..', '..');

/** The example data that `demo` loads. */
export const NORTHWIND = join(ROOT, 'examples', 'northwind');
/** An id that does not exist. */
export const NOBODY = '00000000-0000-4000-8000-000000000000';

/** Time that a slow machine needs to start a command, in milliseconds. */
const PATIENCE = 50_000;

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
  const start = (args: string[], others: Environment = {}): ChildProcess => {
    const env = basic({ ...environment, ...others });
    const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(child);
    return child.once('close', () => running.delete(child));
  };
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
  return { PATH, HOME, ...oldServers(), ...environment };
}

/** A child's output and exit code. */
export async function finished(child: ChildProcess): Promise<Finished> {
  let [stdout, stderr] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}

/** A command that runs until it is stopped. */
export interface Followed {
  readonly child: ChildProcess;
  /** The lines of stdout so far. */
  readonly lines: () => string[];
  readonly stderr: () => string;
  readonly ended: Promise<Finished>;
  /** Waits until stdout has this many lines, and returns them. */
  until(count: number, patience?: number): Promise<string[]>;
  /** Waits until stderr matches. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  /** Ends it, with a signal if one is given, and returns its exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

export function followed(cli: CommandLine, args: string[], more: Environment = {}): Followed {
  const child = cli.start(args, more);
  const ended = finished(child);
  let [stdout, stderr, isClosed] = ['', '', false];
  child.stdout!.on('data', (text: string) => (stdout += text));
  child.stderr!.on('data', (text: string) => (stderr += text));
  void ended.then(() => (isClosed = true));
  const lines = (): string[] => stdout.split('\n').slice(0, -1);
  const waiting = async <T>(look: () => T, patience = PATIENCE): Promise<NonNullable<T>> => {
    try {
      return await eventually(() => {
        if (isClosed && !look()) throw new Error('it has ended');
        return look();
      }, patience);
    } catch (error) {
      throw new Error(`${String(error)}\nstdout: ${stdout}\nstderr: ${stderr}`, { cause: error });
    }
  };
  return {
    child,
    lines,
    ended,
    stderr: () => stderr,
    until: (count, patience) => waiting(() => (lines().length >= count ? lines() : undefined), patience),
    says: (pattern) => waiting(() => pattern.exec(stderr)),
    async end(signal) {
      if (signal) child.kill(signal);
      return (await ended).code;
    },
  };
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
  const command = followed(cli, ['serve', '--json', ...args], { PORT: '0', ...more });
  const { child, stderr, ended: end } = command;
  const [line = ''] = await command.until(1);
  const { url, admin_url: adminUrl } = JSON.parse(line) as { url: string; admin_url: string };
  const stop = (): Promise<Finished> => {
    child.kill('SIGTERM');
    return end;
  };
  return { child, url, adminUrl, stderr, end, stop };
}

/** What `import` answers. */
export interface ImportAnswer {
  readonly files: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly errors: readonly { file: string; line: number; pointer: string; code: string; detail: string }[];
}

/** Imports a file with this text. */
export async function importText(
  cli: CommandLine,
  org: string,
  text: string | Buffer,
  file = 'products.ndjson',
): Promise<Finished & { answer: ImportAnswer }> {
  const path = join(await newFolder(), file);
  await writeFile(path, text);
  const result = await cli.run('import', '--org', org, path, '--json');
  return { ...result, answer: JSON.parse(result.stdout) as ImportAnswer };
}

/** The first lines of one of Northwind's files. */
export async function northwindLines(file: string, count: number): Promise<string[]> {
  return (await readFile(join(NORTHWIND, file), 'utf8')).split('\n').slice(0, count);
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
