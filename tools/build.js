const { readdirSync, readFileSync, rmSync } = require('node:fs');
const { join } = require('node:path');
const { build } = require('esbuild');

const ROOT = join(__dirname, '..');

/** Transpiles src into a folder of the project, beside what a package has no file for; `npm run types` checks the types. */
async function transpile(folder) {
  const outdir = join(ROOT, folder);
  // a module that became a folder would be found under its old name
  rmSync(outdir, { recursive: true, force: true });
  const files = readdirSync(join(ROOT, 'src'), { recursive: true });
  await build({
    entryPoints: files.filter((file) => /\.(ts|json)$/.test(file)).map((file) => join(ROOT, 'src', file)),
    outdir,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    loader: { '.json': 'copy' },
    logLevel: 'error',
  });
  await build({
    entryPoints: { 'apollo-sandbox': '@apollo/sandbox' },
    outdir: join(outdir, 'vendor'),
    bundle: true,
    format: 'esm',
    minify: true,
    target: 'es2022',
    banner: { js: `/*! ${readFileSync(require.resolve('@apollo/sandbox/LICENSE'), 'utf8')}*/` },
    logLevel: 'error',
  });
}

module.exports = { transpile };

if (require.main === module) void transpile('dist');
