const { execFileSync, spawn } = require('node:child_process');
const { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } = require('node:fs');
const { basename, dirname, join } = require('node:path');
const { brotliCompressSync, gzipSync } = require('node:zlib');
const { build, context } = require('esbuild');
const { buildGuides } = require('./guides.js');

const ROOT = join(__dirname, '..');
const COMMON = { absWorkingDir: ROOT, bundle: true, logLevel: 'error' };

/**
 * Writes the guides, and the scripts and styles of the pages, to dist, and bundles a file of src, with all that it imports from src, into main.js in a
 * folder: in separate modules, calls between them took a twentieth of the time of a list of 50. `npm run types` checks the types.
 */
async function bundle(folder, entry = 'main.ts') {
  buildGuides();
  await build(PAGES);
  await build({
    ...COMMON,
    entryPoints: [join(ROOT, 'src', entry)],
    outfile: join(ROOT, folder, 'main.js'),
    packages: 'external',
    // without the 50 languages that its own entry loads: 3 MiB less memory, 50 ms less of a start
    alias: { zod: require.resolve('zod').replace(/cjs$/, 'js') },
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    define: { REVISION: JSON.stringify(revision()) ?? 'undefined' },
    plugins: [{ name: 'ascii', setup: onlyAscii }],
  });
}

/** The commit that is built: that of the checkout, or in an image, which has none, that of its argument; undefined without both. */
function revision() {
  if (process.env.REVISION) return process.env.REVISION;
  // a package within another repository has none
  if (!existsSync(join(ROOT, '.git'))) return undefined;
  try {
    const git = ['describe', '--always', '--dirty', '--exclude=*'];
    return execFileSync('git', git, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}

/** Escapes other characters, which esbuild leaves in tagged templates: V8 keeps a file that has one in two bytes a character. */
function onlyAscii({ initialOptions, onEnd }) {
  const escape = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  initialOptions.write = false;
  onEnd(({ outputFiles }) => {
    for (const { path, text } of outputFiles) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text.replaceAll(/[^\0-\x7f]/g, escape), { mode: 0o755 });
    }
  });
}

const WEB = join(ROOT, 'dist', 'web');
/** Each becomes one file with all that it imports; src/pages/assets.ts says which page uses which. */
const ENTRIES = [
  ...['favicon.svg', 'icons.svg', 'prose.ts', 'sandbox.js', 'graphiql.js', 'reference.ts', 'guides.ts'],
  ...['settings/settings.ts', 'settings/signIn.js'],
];
/** Removes the fonts from GraphiQL's style sheet, seven eighths of its size: the pages use the system's fonts. */
const withoutFonts = ({ onLoad }) =>
  onLoad({ filter: /\/graphiql\/.*\.css$/ }, ({ path }) => {
    const styles = readFileSync(path, 'utf8');
    return { loader: 'css', contents: styles.replace(/@font-face\s*\{[^}]*\}/g, '') };
  });
const LICENCES = '/*! Licences: /assets/licences.txt */';
const PAGES = {
  ...COMMON,
  entryPoints: ENTRIES.map((file) => join(ROOT, 'web', file)),
  entryNames: '[name]-[hash]',
  outdir: WEB,
  format: 'esm',
  minify: true,
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  banner: { js: LICENCES, css: LICENCES },
  define: { 'process.env.NODE_ENV': '"production"' },
  loader: { '.svg': 'copy', '.woff2': 'file' },
  assetNames: '[name]-[hash]',
  metafile: true,
  plugins: [
    { name: 'fonts', setup: withoutFonts },
    { name: 'files', setup: ({ onEnd }) => onEnd(({ metafile }) => metafile && finish(metafile)) },
  ],
};

/** How long the files of an earlier build are kept for a gateway that was started with them, in milliseconds. */
const KEPT = 3_600_000;

/** Compresses the files of a build that are new (their names contain hashes), and writes a list of all names. */
function finish({ inputs, outputs }) {
  const made = Object.keys(outputs).map((path) => basename(path));
  const files = ['names.json', 'licences.txt', ...made.flatMap((name) => [name, `${name}.br`, `${name}.gz`])];
  for (const path of readdirSync(WEB)
    .filter((name) => !files.includes(name))
    .map((name) => join(WEB, name)))
    if (statSync(path).mtimeMs < Date.now() - KEPT) rmSync(path);
  for (const name of made) {
    const bytes = readFileSync(join(WEB, name));
    for (const [ending, compress] of Object.entries({ br: brotliCompressSync, gz: gzipSync })) {
      const path = join(WEB, `${name}.${ending}`);
      if (!existsSync(path)) writeFileSync(path, compress(bytes));
    }
  }
  writeFileSync(join(WEB, 'licences.txt'), licences(Object.keys(inputs)));
  const names = Object.fromEntries(made.map((name) => [name.replace(/-\w{8}\./, '.'), name]));
  // written last, since its change tells others that the build is complete
  writeFileSync(join(WEB, 'names.json'), JSON.stringify(names));
}

/** The licences of the packages that a build contains, and of the font and the icons in web/. */
function licences(inputs) {
  const folders = new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []));
  const texts = [...folders].sort().flatMap((folder) => {
    const files = readdirSync(join(ROOT, folder)).filter((name) => /^licen[cs]e|^notice|LICENSE\.txt$/i.test(name));
    return [
      folder.replace(/^.*node_modules/, '='),
      ...files.map((name) => readFileSync(join(ROOT, folder, name), 'utf8')),
    ];
  });
  const own = join(ROOT, 'web', 'licences');
  for (const name of readdirSync(own)) texts.push(`= ${basename(name, '.txt')}`, readFileSync(join(own, name), 'utf8'));
  return texts.join('\n\n');
}

/** Serves from source, and restarts after each change. */
async function watch() {
  buildGuides();
  await build(PAGES);
  await (await context(PAGES)).watch();
  const tsx = join(dirname(require.resolve('tsx/package.json')), 'dist', 'cli.mjs');
  const args = [tsx, 'watch', '--include', 'dist/web/names.json', 'src/main.ts', 'serve'];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
  child.on('close', (code) => process.exit(code ?? 1));
}

module.exports = { bundle };

if (require.main === module) {
  if (process.argv[2] === '--watch') void watch();
  else void bundle('dist');
}
