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

/** SecantusDB's Python server, where only package registries can be reached. */
export const secantusLink: Link = {
  kind: 'secantusdb',
  title: `SecantusDB ${VERSION} from PyPI`,
  async offer(options) {
    const python = pythonOf(join(options.cacheDir, FOLDER));
    // a link that dangles, since its Python was removed, counts as not installed
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

/** Another gateway with data of its own may share the cache, and install at this moment. */
async function installOnce(python: string, options: EmbeddedOptions): Promise<Installed> {
  const { cacheDir, report, signal } = options;
  await mkdir(cacheDir, { recursive: true });
  const work = async (): Promise<Installed> => ((await isExecutable(python)) ? { ok: true } : install(options));
  return withLock(join(cacheDir, `${FOLDER}.lock`), work, {
    signal,
    onWait: (pid) => {
      report(`database: process ${String(pid ?? 'unknown')} is installing SecantusDB, waiting`);
    },
  });
}

/**
 * Builds the environment under a name of its own and renames it when it is whole, so that a half-made one is never taken for a whole one.
 * Run as `python -m`, an environment bears the move; only the scripts in its bin/ would not.
 */
async function install(options: EmbeddedOptions): Promise<Installed> {
  const { cacheDir, path, report, signal } = options;
  const python = await findPython(path, signal);
  if (!python.found) return { ok: false, reason: python.reason };

  report(
    `database: installing SecantusDB ${VERSION} from PyPI into ${join(cacheDir, FOLDER)}, once, with Python ${python.version}`,
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
 * SecantusDB and everything it needs, for every Python and platform that it has wheels for: only files with a hash that was
 * seen when it was chosen are run here. docs/decisions/embedded-database.md tells how the pins are made.
 */
export function requirements(): string {
  const lines = Object.entries(pins).map(([requirement, hashes]) =>
    [requirement, ...hashes.map((hash) => `--hash=${hash}`)].join(' \\\n  '),
  );
  return `${lines.join('\n')}\n`;
}

/** --only-binary: building a wheel here would need a compiler and minutes. */
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
  // there only when its Python has been removed since
  await rm(place, { recursive: true, force: true });
  await rename(draft, place);
}

/** Under the lock every draft is one that a killed process left behind. */
async function removeDrafts(cacheDir: string): Promise<void> {
  const drafts = (await readdir(cacheDir)).filter((name) => name.startsWith(`${FOLDER}.draft-`));
  await Promise.all(drafts.map((name) => rm(join(cacheDir, name), { recursive: true, force: true })));
}
