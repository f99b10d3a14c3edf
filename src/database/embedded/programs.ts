import { execFile } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { DatabaseUnavailable, type Link, type ServerPlan, Unusable } from './types';

const NAMES = ['mongod', 'secantusd-rs', 'secantusd'];

/** A database binary that is already installed. */
export const binaryLink: Link = {
  kind: 'binary',
  title: 'a mongod or secantusd-rs binary',
  async offer({ MONGOD_BINARY, PATH, signal }, remembered) {
    const planOf = (command: string): Promise<ServerPlan> =>
      planFor({ kind: 'binary', command, storage: 'mongod', origin: command }, signal);
    if (MONGOD_BINARY) return named(MONGOD_BINARY, PATH, planOf);
    const found = await findOnPath(NAMES, PATH);
    if (!remembered) {
      return firstUsable(found, planOf, (reasons) => reasons || 'MONGOD_BINARY is not set, and none was found on PATH');
    }
    const { command, program } = remembered;
    const ofSameProgram = async (other: string): Promise<ServerPlan> => {
      const plan = await planOf(other);
      if (plan.program !== program) throw new Unusable(`it is ${plan.program}`);
      return plan;
    };
    // another binary of the same program will do, since an update may have moved it
    const explain = (): string => `neither ${command} nor another ${program} on PATH can be run`;
    return firstUsable([command, ...found], ofSameProgram, explain);
  },
};

/** MONGOD_BINARY must work: falling back to another server would hide the mistake. */
async function named(binary: string, path: string, use: (command: string) => Promise<ServerPlan>): Promise<ServerPlan> {
  const isPath = binary.includes('/') || binary.includes(sep);
  const [command = ''] = isPath ? [resolve(binary)] : await findOnPath([binary], path);
  if (!(await isExecutable(command))) {
    throw new DatabaseUnavailable(`MONGOD_BINARY is ${binary}, which is neither an executable file nor a name on PATH`);
  }
  return use(command).catch((error: unknown) => {
    throw new DatabaseUnavailable(`MONGOD_BINARY is ${binary}, which cannot be used: ${(error as Error).message}`);
  });
}

/** A program on this machine; `origin` tells the user where it comes from. */
type Program = Pick<ServerPlan, 'kind' | 'command' | 'storage'> & { readonly origin: string };

/** The plan of a program, identified by its --version output, not by its name. @throws Unusable if it is not a database */
export async function planFor(program: Program, signal?: AbortSignal): Promise<ServerPlan> {
  const text = await ask(program.command, ['--version'], { signal });
  const mongod = /^db version v(\S+)/m.exec(text)?.[1];
  if (mongod !== undefined) return mongodPlan(program, mongod);
  const version = /^secantusd\S* (\S+)/m.exec(text)?.[1];
  if (version === undefined) {
    throw new Unusable(`it is neither mongod nor secantusd-rs (--version says "${text.split('\n', 1).join('')}")`);
  }
  // the default cache size is 4 GB
  const after = ['--cache-size', '1G'];
  return secantusPlan({ ...program, program: 'secantusd-rs', version, storage: 'secantusd-rs' }, [], after);
}

/** A real mongod as a one-member replica set, which transactions require. */
function mongodPlan({ origin, ...program }: Program, version: string): ServerPlan {
  return {
    ...program,
    program: 'mongod',
    version,
    title: `MongoDB ${version} (${origin})`,
    replicaSet: 'rs0',
    args: ({ port, storagePath }) => [
      ...['--replSet', 'rs0', '--bind_ip', '127.0.0.1', '--port', String(port), '--dbpath', storagePath],
      // a socket in /tmp would be accessible to every user and left behind after a crash
      ...(process.platform === 'win32' ? [] : ['--nounixsocket']),
      // a killed process holds the documents of its transaction for this long; 60 s by default
      ...['--setParameter', 'transactionLifetimeLimitSeconds=15'],
    ],
  };
}

/**
 * How long SecantusDB keeps its log, from which events are recorded (3,600 s by default), and how many entries. Not more: to tell the
 * oldest entry, it loads the whole log into memory (60,000 entries of 2 KB took 480 MB; with a million it grew to 16 GB and was killed).
 */
const LOG = ['--oplog-retention-seconds', '604800', '--oplog-max-entries', '100000'];

/** SecantusDB's server, with the arguments that its program takes before and after the common ones. */
export function secantusPlan(
  { origin, ...program }: Program & Pick<ServerPlan, 'program' | 'version'>,
  before: string[],
  after: string[],
): ServerPlan {
  return {
    ...program,
    title: `SecantusDB ${program.version} (MongoDB-compatible, ${origin})`,
    replicaSet: 'secantus',
    // --config: otherwise it uses any secantusd.toml it finds
    // --sync-on-commit: without it kill -9 lost 138 of 22,192 acknowledged writes
    args: ({ port, storagePath, configFile }) => [
      ...[...before, '--config', configFile, '--host', '127.0.0.1', '--port', String(port)],
      ...['--storage-path', storagePath, '--sync-on-commit', ...LOG, '--log-level', 'WARNING', ...after],
    ],
  };
}

const execute = promisify(execFile);

interface Asking {
  readonly signal?: AbortSignal | undefined;
  /** In milliseconds; 0 for as long as it takes. */
  readonly timeout?: number;
  /** How many of the last lines of its error the reason has. */
  readonly lines?: number;
}

/** The output of a command, such as `--version`. @throws Unusable with the end of its error */
export async function ask(command: string, args: readonly string[], asking: Asking = {}): Promise<string> {
  const { signal, timeout = 15_000, lines = 1 } = asking;
  try {
    const options = { timeout, killSignal: 'SIGKILL', windowsHide: true, signal } as const;
    return (await execute(command, args, options)).stdout.trim();
  } catch (error) {
    signal?.throwIfAborted();
    // the message ends with what the command wrote to stderr
    throw new Unusable((error as Error).message.trim().split('\n').slice(-lines).join('\n'));
  }
}

/** The executable files with these names on PATH, in order. */
export async function findOnPath(names: readonly string[], path: string): Promise<string[]> {
  const extension = process.platform === 'win32' ? '.exe' : '';
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name + extension)));
  const usable = await Promise.all(candidates.map(isExecutable));
  return candidates.filter((_, index) => usable[index]);
}

/** Whether this user may execute a file. */
export async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

/** The result of `use` for the first command that works. @throws Unusable if none does, with what `explain` makes of all reasons */
export async function firstUsable<T>(
  commands: readonly string[],
  use: (command: string) => Promise<T>,
  explain: (reasons: string) => string,
): Promise<T> {
  const reasons: string[] = [];
  for (const command of commands) {
    try {
      return await use(command);
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      reasons.push(`${command}: ${error.message}`);
    }
  }
  throw new Unusable(explain(reasons.join('; ')));
}
