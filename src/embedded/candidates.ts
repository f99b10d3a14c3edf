import { execFile, type ExecFileException } from 'node:child_process';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../package';
import { withLock } from './files';
import { type Candidate, type EmbeddedOptions, type Program, Unusable } from './types';

/** A database binary that is already installed: MONGOD_BINARY if it is set, otherwise the first in PATH that works. */
const binary: Candidate = {
  kind: 'binary',
  title: 'a mongod or secantusd-rs binary',
  find({ MONGOD_BINARY: named, signal }, record) {
    if (named) return identifyProgram('binary', /[/\\]/.test(named) ? resolve(named) : named, signal);
    const names = ['mongod', 'secantusd-rs', 'secantusd'];
    // another binary of the same program will do, since an update may have moved it
    return firstUsable(record ? [record.command, ...names] : names, async (command) => {
      const program = await identifyProgram('binary', command, signal);
      if (record && program.program !== record.program) throw new Unusable(`is ${program.program}`);
      return program;
    });
  },
};

/** A real mongod, downloaded once by mongodb-memory-server. */
const download: Candidate = {
  kind: 'memory-server',
  title: "mongodb-memory-server's download of mongod",
  async find({ CACHE_DIR, report, signal }, record) {
    const recorded = record && (await unlessUnusable(identifyProgram('memory-server', record.command, signal)));
    if (recorded) return recorded;
    await mkdir(CACHE_DIR, { recursive: true });
    report(`database: looking for mongod in ${CACHE_DIR}, or downloading it to there (once, about 100 MB)`);
    const library = require.resolve('mongodb-memory-server-core');
    const args = ['-e', DOWNLOAD, library, join(CACHE_DIR, 'mongod')];
    const output = await runCommand(process.execPath, args, { signal, timeout: 0 });
    // the path of mongod is the last line
    return identifyProgram('memory-server', output.split('\n').at(-1) ?? '', signal);
  },
};

/**
 * Runs the library in its own process, since it prints stack traces, keeps handles open, cannot be cancelled,
 * and accepts any certificate unless npm_config_strict_ssl is set, which must not affect this process.
 */
const DOWNLOAD = `
process.env.npm_config_strict_ssl = 'true';
const [library, downloadDir] = process.argv.slice(1);
const { DryMongoBinary, MongoBinary } = require(library);
DryMongoBinary.generateOptions({ downloadDir }).then((options) => MongoBinary.getPath(options)).then(
  (path) => { console.log('\\n' + path); process.exit(0); },
  (error) => { console.error('\\n' + error.message.replace(', Details:\\n', ': ').split('\\n')[0]); process.exit(1); },
);
`;

/** Of SecantusDB; secantusdb-requirements.txt has the same. */
const VERSION = '0.7.0b3';

/** SecantusDB's Python server, for machines that can only reach package registries. */
const fromPyPI: Candidate = {
  kind: 'secantusdb',
  title: `SecantusDB ${VERSION} from PyPI`,
  async find(options) {
    const { CACHE_DIR, report, signal } = options;
    const place = join(CACHE_DIR, `secantusdb-${VERSION}`);
    const command = pythonOf(place);
    await mkdir(CACHE_DIR, { recursive: true });
    const onWait = (pid: number): void => {
      report(`database: waiting for process ${String(pid)} to install SecantusDB`);
    };
    // runs it, since an environment does not work once its Python was removed
    const isInstalled = async (): Promise<boolean> =>
      (await unlessUnusable(runCommand(command, ['--version'], { signal }))) !== undefined;
    if (!(await isInstalled()))
      await withLock(
        `${place}.lock`,
        // another gateway may share the cache, and have installed it in the meantime
        async () => {
          if (!(await isInstalled())) await install(place, options);
        },
        { signal, onWait },
      );
    return { kind: 'secantusdb', program: 'secantusd-py', version: VERSION, command, storage: 'secantusdb' };
  },
};

/** Tried in order, the closest to production first. */
export const CANDIDATES: readonly Candidate[] = [binary, download, fromPyPI];

const pythonOf = (venv: string): string =>
  process.platform === 'win32' ? join(venv, 'Scripts', 'python.exe') : join(venv, 'bin', 'python');

const PYTHONS = ['python3', 'python3.13', 'python3.12', 'python3.11', 'python3.10', 'python'];
/** Fails unless SecantusDB has wheels for this version of Python, and it can make environments with pip: Debian ships venv without ensurepip. */
const CHECK = `
import sys
if not (3, 10) <= sys.version_info[:2] <= (3, 13): sys.exit("is Python %d.%d" % sys.version_info[:2])
import venv, ensurepip
`;
/** The requirements are pinned by hash, for every Python and platform with wheels. --only-binary: a build would need a compiler and take minutes. */
const PIP_INSTALL = [
  ...['-m', 'pip', 'install', '--require-hashes', '--only-binary', ':all:', '--no-input', '--quiet'],
  ...['--disable-pip-version-check', '--retries', '2', '--timeout', '20'],
  ...['-r', join(ROOT, 'secantusdb-requirements.txt')],
];

/**
 * A Python that can create a virtual environment. Each is run, because a version manager's shim may exist but not work. @throws Unusable if none
 * does
 */
function findPython(signal?: AbortSignal): Promise<string> {
  return firstUsable(PYTHONS, async (command) => {
    await runCommand(command, ['-c', CHECK], { signal });
    return command;
  });
}

/**
 * Builds the environment under a temporary name and renames it when complete, so that an incomplete one is never used.
 * An environment run as `python -m` can be moved; only the scripts in its bin/ cannot. Requires the lock.
 */
async function install(place: string, { report, signal }: EmbeddedOptions): Promise<void> {
  const python = await findPython(signal);
  report(`database: installing SecantusDB ${VERSION} from PyPI to ${place} (once, with ${python})`);
  const draft = `${place}.draft`;
  const remove = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 5 });
  // left by a process that was killed
  await remove(draft);
  try {
    await runCommand(python, ['-m', 'venv', draft], { signal, timeout: 0, lines: 4 });
    await runCommand(pythonOf(draft), PIP_INSTALL, { signal, timeout: 0, lines: 4 });
    await runCommand(pythonOf(draft), ['-I', '-c', 'import secantus.cli'], { signal, timeout: 0, lines: 4 });
    // this folder only exists if its Python was removed
    await remove(place);
    await rename(draft, place);
  } finally {
    await remove(draft);
  }
}

/** Identifies a program by its --version output, not by its name. @throws Unusable if it is not a database */
async function identifyProgram(kind: Program['kind'], command: string, signal?: AbortSignal): Promise<Program> {
  const text = await runCommand(command, ['--version'], { signal });
  const mongod = /^db version v(\S+)/m.exec(text)?.[1];
  // names of folders in DATA_DIR must never change; a downloaded mongod has one of its own, since its version may be another
  const storage = kind === 'binary' ? 'mongod' : kind;
  if (mongod !== undefined) return { kind, program: 'mongod', version: mongod, command, storage };
  // the Rust server, whatever its name: the Python one (secantusd-py) has no --version
  const version = /^secantusd\S* (\S+)/m.exec(text)?.[1];
  if (version === undefined)
    throw new Unusable(`is neither mongod nor secantusd-rs (--version says "${text.split('\n', 1).join('')}")`);
  return { kind, program: 'secantusd-rs', version, command, storage: 'secantusd-rs' };
}

const execute = promisify(execFile);

interface RunOptions {
  readonly signal?: AbortSignal | undefined;
  /** In milliseconds; 0 for as long as it takes. */
  readonly timeout?: number;
  /** How many lines of the end of its error the message of Unusable has. */
  readonly lines?: number;
}

/** The output of a command, such as `--version`, without white space around it. @throws Unusable with the end of its error, or that it took too long; AbortError */
export async function runCommand(
  command: string,
  args: readonly string[],
  { signal, timeout = 15_000, lines = 1 }: RunOptions = {},
): Promise<string> {
  try {
    const options = { timeout, killSignal: 'SIGKILL', windowsHide: true, signal } as const;
    return (await execute(command, args, options)).stdout.trim();
  } catch (error) {
    signal?.throwIfAborted();
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new Unusable('is not there');
    if ((error as ExecFileException).killed) throw new Unusable(`did not answer within ${String(timeout / 1000)} s`);
    // the message ends with what the command wrote to stderr
    throw new Unusable((error as Error).message.trim().split('\n').slice(-lines).join('\n'));
  }
}

/** Awaits a result; undefined if that throws {@link Unusable}. */
async function unlessUnusable<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof Unusable) return undefined;
    throw error;
  }
}

/** The result of `use` for the first command that works. @throws Unusable with all reasons if none does */
async function firstUsable<T>(commands: readonly string[], use: (command: string) => Promise<T>): Promise<T> {
  const reasons: string[] = [];
  for (const command of commands) {
    try {
      return await use(command);
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      reasons.push(`${command} ${error.message}`);
    }
  }
  throw new Unusable(reasons.join('; '));
}
