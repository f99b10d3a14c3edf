import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

const ROOT = join(__dirname, '..', '..');

/** Beside dist, so that what the program reads of its package stands where it looks for it. */
const FOLDER = join(ROOT, 'dist-test');

/** The program that tests of the command line start: built at the start of each run, since tsx would read all sources each time. */
export const PROGRAM = join(FOLDER, 'main.js');

export async function buildProgram(): Promise<void> {
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
}
