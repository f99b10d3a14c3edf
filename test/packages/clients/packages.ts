import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, run } from '../examples/run';

/* The clients as they would be published: packed and installed from the archive, which shows if a file is missing from it. */

/** Inside the repository, so that development dependencies resolve. */
const CACHE = join(ROOT, '.cache');

/** The machine's settings for the package index and proxies. */
export function packageIndex(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => /^(PIP_|https?_proxy$|SSL_)/i.test(name)),
  ) as Record<string, string>;
}

/** A copy of a folder of the repository; remove it after use. */
export async function copied(...path: string[]): Promise<string> {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, `${path.join('-')}-`));
  await cp(join(ROOT, ...path), folder, {
    recursive: true,
    filter: (file) => !/\/(node_modules|dist|\.venv|__pycache__)$/.test(file),
  });
  return folder;
}

/** The archive of a package of the folder clients, which is packed once for all test files of a run. */
async function packed(source: string): Promise<string> {
  const archive = join(tmpdir(), `scopegate-${source}.tgz`);
  if (existsSync(archive)) return archive;
  const copy = await copied('clients', source);
  try {
    await run('npm', ['pack', '--silent'], { cwd: copy });
    const [made = ''] = (await readdir(copy)).filter((file) => file.endsWith('.tgz'));
    // another worker may do the same, and must not find half of it
    const whole = `${archive}.${String(process.pid)}`;
    await copyFile(join(copy, made), whole);
    await rename(whole, archive);
    return archive;
  } finally {
    await rm(copy, { recursive: true });
  }
}

/** Installs a package of the folder clients for the programs in a folder. */
async function installPacked(folder: string, source: string, name: string): Promise<void> {
  const target = join(folder, 'node_modules', '@scopegate', name);
  await mkdir(target, { recursive: true });
  // it has no dependencies
  await run('tar', ['-xzf', await packed(source), '--strip-components', '1', '-C', target]);
}

export const installTypescript = (folder: string): Promise<void> => installPacked(folder, 'typescript', 'client');
export const installSync = (folder: string): Promise<void> => installPacked(folder, 'sync', 'sync');

/** Builds the Python client, and installs it with other packages in a virtual environment in a folder. Returns the path of its python. */
export async function installPython(folder: string, ...others: string[]): Promise<string> {
  const source = await copied('clients', 'python');
  const venv = join(folder, '.venv');
  const pip = (...args: string[]): Promise<string> =>
    run(join(venv, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', ...args], {
      env: packageIndex(),
    });
  try {
    await run('python3', ['-m', 'venv', venv]);
    await pip('build==1.4.0');
    // the wheel from the source archive
    await run(join(venv, 'bin', 'python'), ['-m', 'build', source], { env: packageIndex() });
    const [wheel = ''] = (await readdir(join(source, 'dist'))).filter((name) => name.endsWith('.whl'));
    await pip(join(source, 'dist', wheel), ...others);
  } finally {
    await rm(source, { recursive: true });
  }
  return join(venv, 'bin', 'python');
}
