import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import type { build as esbuild } from 'esbuild';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { transpile } from '../../tools/build';

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
  await transpile('dist-test');
  await bundle(build);
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, 'openapi'], { maxBuffer: 16 * 1024 * 1024 });
  await writeFile(DOCUMENT, stdout);
}

/** Packages that tests check for being loaded, and optional ones of the database driver. */
const NOT_BUNDLED = [
  ...['pino', '@opentelemetry/*'],
  ...['kerberos', 'snappy', 'mongodb-client-encryption', '@mongodb-js/zstd', 'aws4', 'gcp-metadata', 'socks'],
  '@aws-sdk/credential-providers',
];

/**
 * Makes what main.js loads one file with most packages in it, compiled once: tests start hundreds of processes, and finding, reading
 * and compiling a thousand modules took most of the time of each. From the transpiled files, so that packages are found as by require. The program as it is built for users runs in the faults and the
 * other checks.
 */
async function bundle(build: typeof esbuild): Promise<void> {
  const entry = join(FOLDER, 'cli', 'run.js');
  const bundled = join(FOLDER, 'cli', 'bundle.js');
  await build({
    entryPoints: [entry],
    outfile: bundled,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    // the compiled code is a plain script, which cannot import
    supported: { 'dynamic-import': false },
    minifyWhitespace: true,
    external: NOT_BUNDLED,
    logLevel: 'error',
    plugins: [
      {
        name: 'folders',
        setup(building) {
          // each module resolves files of the package from its own folder
          building.onLoad({ filter: /dist-test.*\.js$/ }, async ({ path }) => {
            const text = await readFile(path, 'utf8');
            return { contents: text.replaceAll('__dirname', JSON.stringify(dirname(path))), loader: 'js' };
          });
        },
      },
    ],
  });
  const loader = join(__dirname, 'compiled.cjs');
  await writeFile(entry, `module.exports = require(${JSON.stringify(loader)})(${JSON.stringify(bundled)});\n`);
}
