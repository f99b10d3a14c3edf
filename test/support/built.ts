import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundle } from '../../tools/build';

const ROOT = join(__dirname, '..', '..');

/** Next to dist, so that the program finds the files of its package. */
const FOLDER = join(ROOT, 'dist-test');

/** The program that command-line tests run, built once per run because tsx would compile all sources each time. */
export const PROGRAM = join(FOLDER, 'main.js');

/** Packages that tests check for being loaded, and optional ones of the database driver. */
const NOT_BUNDLED = [
  ...['pino', '@opentelemetry/*'],
  ...['kerberos', 'snappy', 'mongodb-client-encryption', '@mongodb-js/zstd', 'aws4', 'gcp-metadata', 'socks'],
  '@aws-sdk/credential-providers',
];

/**
 * Makes the program one file with most packages in it, compiled once: tests start hundreds of processes, and finding, reading and compiling
 * a thousand modules took most of the time of each. The program as it is built for users runs in the faults and the other checks.
 */
export async function buildProgram(): Promise<void> {
  // imported here, because tests only need the paths above
  const { build } = await import('esbuild');
  await bundle('dist-test', 'cli/run.ts');
  const whole = join(FOLDER, 'whole.js');
  await build({
    entryPoints: [PROGRAM],
    outfile: whole,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    // the compiled code is a plain script, which cannot import
    supported: { 'dynamic-import': false },
    minifyWhitespace: true,
    external: NOT_BUNDLED,
    logLevel: 'error',
  });
  const load = `require(${JSON.stringify(join(__dirname, 'compiled.cjs'))})(${JSON.stringify(whole)})`;
  await writeFile(join(FOLDER, 'run.js'), `module.exports = ${load};\n`);
  await writeFile(PROGRAM, `require('./run.js').run(process.argv).then((code) => (process.exitCode = code));\n`);
}
