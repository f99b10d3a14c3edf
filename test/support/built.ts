import { execFile } from 'node:child_process';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '..', '..');

/** Next to dist, so that the program finds the files of its package. */
const FOLDER = join(ROOT, 'dist-test');

/** The program that command-line tests run, built once per run because tsx would compile all sources each time. */
export const PROGRAM = join(FOLDER, 'main.js');

/** The published OpenAPI document, generated once because it would cost each test file a second of CPU time. */
export const DOCUMENT = join(FOLDER, 'openapi.json');

export async function buildProgram(): Promise<void> {
  // imported here, because tests only need the paths above
  const { build } = await import('esbuild');
  // a module that became a folder would be found under its old name
  await rm(FOLDER, { recursive: true, force: true });
  const files = await readdir(join(ROOT, 'src'), { recursive: true });
  await build({
    entryPoints: files.filter((file) => /\.(ts|json)$/.test(file)).map((file) => join(ROOT, 'src', file)),
    outdir: FOLDER,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    sourcemap: 'inline',
    loader: { '.json': 'copy' },
    logLevel: 'error',
  });
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, 'openapi'], { maxBuffer: 16 * 1024 * 1024 });
  await writeFile(DOCUMENT, stdout);
}
