/*
 * Loads a large script with the code that V8 compiled for it when it was first run. The script is one of `node main.js`,
 * of which tests start hundreds.
 */
const { hash } = require('node:crypto');
const { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { basename, dirname, join } = require('node:path');
const { Script } = require('node:vm');

const HEAD = '(function (exports, require, module, __filename, __dirname) {';

/** The exports of a script of ASCII characters, without `import()`. */
module.exports = function load(filename) {
  const text = `${HEAD}${readFileSync(filename, 'latin1')}\n})`;
  // V8 takes the code of any text of the same length, and Node 20 crashes on what Node 24 has compiled
  const kept = `${filename}.${process.version}.${hash('sha256', text).slice(0, 16)}.cache`;
  const cachedData = existsSync(kept) ? readFileSync(kept) : undefined;
  const script = new Script(text, { filename, columnOffset: -HEAD.length, cachedData });
  if (!cachedData || script.cachedDataRejected)
    process.on('exit', () => keep(filename, kept, script.createCachedData()));
  const loaded = { exports: {} };
  script.runInThisContext()(loaded.exports, createRequire(filename), loaded, filename, dirname(filename));
  return loaded.exports;
};

/** Instead of the code of earlier texts. Never half of it, if several processes begin without. */
function keep(filename, file, data) {
  const made = `${file}.${String(process.pid)}`;
  writeFileSync(made, data);
  renameSync(made, file);
  const former = `${basename(filename)}.${process.version}.`;
  for (const name of readdirSync(dirname(file)))
    if (name.startsWith(former) && name.endsWith('.cache') && name !== basename(file))
      rmSync(join(dirname(file), name), { force: true });
}
