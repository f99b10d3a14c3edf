const { readFileSync, rmSync } = require('node:fs');
const { join } = require('node:path');
const { build } = require('esbuild');

const ROOT = join(__dirname, '..');
const COMMON = { bundle: true, logLevel: 'error' };

/**
 * Writes a file of src and all that it imports of src into one file of a folder, and beside it what a package has no file for. One file, since
 * calls between modules cost a list of 50 a twentieth of its time. `npm run types` checks the types.
 */
async function bundle(folder, entry = 'main.ts') {
  const outdir = join(ROOT, folder);
  rmSync(outdir, { recursive: true, force: true });
  await build({
    ...COMMON,
    entryPoints: [join(ROOT, 'src', entry)],
    outfile: join(outdir, 'main.js'),
    packages: 'external',
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
  });
  await build({
    ...COMMON,
    entryPoints: { 'apollo-sandbox': '@apollo/sandbox' },
    outdir: join(outdir, 'vendor'),
    format: 'esm',
    minify: true,
    target: 'es2022',
    banner: { js: `/*! ${readFileSync(require.resolve('@apollo/sandbox/LICENSE'), 'utf8')}*/` },
  });
}

module.exports = { bundle };

if (require.main === module) void bundle('dist');
