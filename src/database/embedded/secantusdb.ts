import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../../package';
import { withLock } from './lock';
import { ask, findOnPath, firstUsable, isExecutable, secantusPlan } from './programs';
import { type EmbeddedOptions, type Link, Unusable } from './types';

const VERSION = '0.7.0b3';
const FOLDER = `secantusdb-${VERSION}`;

/** SecantusDB's Python server, for machines that can only reach package registries. */
export const secantusLink: Link = {
  kind: 'secantusdb',
  title: `SecantusDB ${VERSION} from PyPI`,
  async offer(options) {
    const { CACHE_DIR, report, signal } = options;
    const place = join(CACHE_DIR, FOLDER);
    const command = pythonOf(place);
    await mkdir(CACHE_DIR, { recursive: true });
    // a dangling symlink, because its Python was removed, counts as not installed
    if (!(await isExecutable(command))) {
      const onWait = (pid?: number): void => {
        report(`database: waiting for process ${String(pid ?? 'unknown')} to install SecantusDB`);
      };
      // another gateway may share the cache, and have installed it in the meantime
      const work = async (): Promise<unknown> => (await isExecutable(command)) || install(place, options);
      await withLock(`${place}.lock`, work, { signal, onWait });
    }
    const python = { kind: 'secantusdb', program: 'secantusd-py', command, storage: 'secantusdb' } as const;
    // isolated, so that neither PYTHONPATH nor a module in the current folder can shadow SecantusDB's own modules
    const before = ['-I', '-u', '-m', 'secantus'];
    return secantusPlan({ ...python, version: VERSION, origin: 'from PyPI' }, before, []);
  },
};

const pythonOf = (venv: string): string =>
  process.platform === 'win32' ? join(venv, 'Scripts', 'python.exe') : join(venv, 'bin', 'python');

/**
 * Builds the environment under a temporary name and renames it when complete, so that an incomplete one is never used.
 * An environment run as `python -m` can be moved; only the scripts in its bin/ cannot. Requires the lock.
 */
async function install(place: string, { PATH, report, signal }: EmbeddedOptions): Promise<void> {
  const python = await findPython(PATH, signal);
  report(`database: installing SecantusDB ${VERSION} from PyPI to ${place} (once, with Python ${python.version})`);
  const draft = `${place}.draft`;
  const steps: [string, string[]][] = [
    [python.command, ['-m', 'venv', draft]],
    [pythonOf(draft), ['-m', 'pip', 'install', ...PIP_OPTIONS, '-r', REQUIREMENTS]],
    [pythonOf(draft), ['-I', '-c', 'import secantus.cli']],
  ];
  const remove = (): Promise<void> => rm(draft, { recursive: true, force: true, maxRetries: 5 });
  // left by a process that was killed
  await remove();
  try {
    for (const [command, args] of steps) {
      await ask(command, args, { signal, timeout: 0, lines: 4 }).catch((error: unknown) => {
        if (!(error instanceof Unusable)) throw error;
        throw new Unusable(`\`python ${args.slice(0, 3).join(' ')}\` failed:\n${error.message}`);
      });
    }
    // this folder only exists if its Python was removed
    await rm(place, { recursive: true, force: true });
    await rename(draft, place);
  } finally {
    await remove();
  }
}

/** --only-binary: building a wheel would need a compiler and take minutes. */
const PIP_OPTIONS = [
  ...['--require-hashes', '--only-binary', ':all:', '--no-input', '--quiet', '--disable-pip-version-check'],
  ...['--retries', '2', '--timeout', '20'],
];

/**
 * SecantusDB and its dependencies, for every Python and platform with wheels, pinned by hash so that only known files are
 * installed. docs/decisions/embedded-database.md explains how the file is created.
 */
const REQUIREMENTS = join(ROOT, 'secantusdb-requirements.txt');

const PYTHONS = ['python3', 'python3.13', 'python3.12', 'python3.11', 'python3.10', 'python'];
/** The Python 3 minor versions for which SecantusDB 0.7.0b3 has wheels on PyPI. */
const OLDEST = 10;
const NEWEST = 13;

/** A Python that can create the virtual environment. Each is run, because a version manager's shim may exist but not work. */
export async function findPython(path: string, signal?: AbortSignal) {
  const check = async (command: string) => {
    const version = await ask(command, ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])'], { signal });
    const [major, minor = 0] = version.split('.').map(Number);
    if (major !== 3 || minor < OLDEST) throw new Unusable(`Python ${version} is too old`);
    if (minor > NEWEST) throw new Unusable(`Python ${version} is too new for this release of SecantusDB`);
    // Debian ships venv without ensurepip
    await ask(command, ['-c', 'import venv, ensurepip'], { signal }).catch(() => {
      throw new Unusable(`Python ${version} lacks the venv module (on Debian and Ubuntu: apt install python3-venv)`);
    });
    return { command, version };
  };
  return firstUsable(await findOnPath(PYTHONS, path), check, (reasons) =>
    reasons === '' ? 'no python3 on PATH' : `no usable Python 3.10 to 3.13 on PATH (${reasons})`,
  );
}
