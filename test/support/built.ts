import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '..', '..');

/** Beside dist, so that what the program reads of its package stands where it looks for it. */
const FOLDER = join(ROOT, 'dist-test');

/** The program that tests of the command line start: built at the start of each run, since tsx would read all sources each time. */
export const PROGRAM = join(FOLDER, 'main.js');

/** The document that the program publishes, made once: each test file would take a second of processor time for its own. */
export const DOCUMENT = join(FOLDER, 'openapi.json');

export async function buildProgram(): Promise<void> {
  // loaded here, since tests take the paths above and do not build
  const { build } = await import('esbuild');
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
