import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isExecutable } from './execute';
import { withLock } from './lock';
import { secantusPythonPlan } from './plans';
import { runGuarded, tailOf } from './process';
import { findPython } from './python';
import pins from './secantusdbPins.json';
import type { EmbeddedOptions, Link, Offer } from './types';

const VERSION = '0.7.0b3';
const FOLDER = `secantusdb-${VERSION}`;

/** SecantusDB's Python server, for machines that can only reach package registries. */
export const secantusLink: Link = {
  kind: 'secantusdb',
  title: `SecantusDB ${VERSION} from PyPI`,
  async offer(options) {
    const python = pythonOf(join(options.cacheDir, FOLDER));
    // a dangling symlink, because its Python was removed, counts as not installed
    if (!(await isExecutable(python))) {
      const installed = await installOnce(python, options);
      if (!installed.ok) return { found: false, reason: installed.reason };
    }
    return { found: true, plan: secantusPythonPlan(python, VERSION) } satisfies Offer;
  },
};

const pythonOf = (venv: string): string =>
  process.platform === 'win32' ? join(venv, 'Scripts', 'python.exe') : join(venv, 'bin', 'python');

type Installed = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** Takes a lock, since another gateway may share the cache and be installing now. */
async function installOnce(python: string, options: EmbeddedOptions): Promise<Installed> {
  const { cacheDir, report, signal } = options;
  await mkdir(cacheDir, { recursive: true });
  const work = async (): Promise<Installed> => ((await isExecutable(python)) ? { ok: true } : install(options));
  return withLock(join(cacheDir, `${FOLDER}.lock`), work, {
    signal,
    onWait: (pid) => {
      report(`database: waiting for process ${String(pid ?? 'unknown')} to install SecantusDB`);
    },
  });
}

/**
 * Builds the environment under a temporary name and renames it when complete, so that an incomplete one is never used.
 * An environment run as `python -m` can be moved; only the scripts in its bin/ cannot.
 */
async function install(options: EmbeddedOptions): Promise<Installed> {
  const { cacheDir, path, report, signal } = options;
  const python = await findPython(path, signal);
  if (!python.found) return { ok: false, reason: python.reason };

  report(
    `database: installing SecantusDB ${VERSION} from PyPI to ${join(cacheDir, FOLDER)} (once, with Python ${python.version})`,
  );
  await removeDrafts(cacheDir);
  const draft = join(cacheDir, `${FOLDER}.draft-${randomUUID()}`);
  const logFile = `${draft}.log`;
  const requirementsFile = `${draft}.txt`;
  try {
    await writeFile(requirementsFile, requirements());
    const steps: [string, string[]][] = [
      [python.command, ['-m', 'venv', draft]],
      [pythonOf(draft), ['-m', 'pip', 'install', ...PIP_OPTIONS, '-r', requirementsFile]],
      [pythonOf(draft), ['-I', '-c', 'import secantus.cli']],
    ];
    for (const [command, args] of steps) {
      const { code, text } = await runGuarded({ command, args, logFile }, signal);
      if (code !== 0) {
        const step = args.slice(0, 3).join(' ');
        return { ok: false, reason: `\`python ${step}\` failed (${text}):\n${await tailOf(logFile, 4)}` };
      }
    }
    await moveIntoPlace(draft, join(cacheDir, FOLDER));
    return { ok: true };
  } finally {
    await Promise.all([draft, logFile, requirementsFile].map((made) => rm(made, { recursive: true, force: true })));
  }
}

/**
 * SecantusDB and its dependencies, for every Python and platform with wheels, pinned by hash so that only known files are
 * installed. docs/decisions/embedded-database.md explains how the pins are created.
 */
export function requirements(): string {
  const lines = Object.entries(pins).map(([requirement, hashes]) =>
    [requirement, ...hashes.map((hash) => `--hash=${hash}`)].join(' \\\n  '),
  );
  return `${lines.join('\n')}\n`;
}

/** --only-binary: building a wheel would need a compiler and take minutes. */
const PIP_OPTIONS = [
  '--require-hashes',
  '--only-binary',
  ':all:',
  '--no-input',
  '--quiet',
  '--disable-pip-version-check',
  '--retries',
  '2',
  '--timeout',
  '20',
];

async function moveIntoPlace(draft: string, place: string): Promise<void> {
  // only exists if its Python was removed
  await rm(place, { recursive: true, force: true });
  await rename(draft, place);
}

/** While we hold the lock, every draft is a leftover of a killed process. */
async function removeDrafts(cacheDir: string): Promise<void> {
  const drafts = (await readdir(cacheDir)).filter((name) => name.startsWith(`${FOLDER}.draft-`));
  await Promise.all(drafts.map((name) => rm(join(cacheDir, name), { recursive: true, force: true })));
}
