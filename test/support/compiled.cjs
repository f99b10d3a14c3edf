/*
 * Loads a large script with the code that V8 compiled for it when it was first run. The script is one of `node main.js`,
 * of which tests start hundreds.
 */
const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname } = require('node:path');
const { Script } = require('node:vm');

const HEAD = '(function (exports, require, module, __filename, __dirname) {';

/** The exports of a script of ASCII characters, without `import()`. */
module.exports = function load(filename) {
  // Node 20 crashes on what Node 24 has compiled
  const kept = `${filename}.${process.version}.cache`;
  const cachedData = existsSync(kept) ? readFileSync(kept) : undefined;
  const text = `${HEAD}${readFileSync(filename, 'latin1')}\n})`;
  const script = new Script(text, { filename, columnOffset: -HEAD.length, cachedData });
  if (!cachedData || script.cachedDataRejected) process.on('exit', () => keep(kept, script.createCachedData()));
  const loaded = { exports: {} };
  script.runInThisContext()(loaded.exports, createRequire(filename), loaded, filename, dirname(filename));
  return loaded.exports;
};

/** Never half of it, if several processes begin without. */
function keep(file, data) {
  const made = `${file}.${String(process.pid)}`;
  writeFileSync(made, data);
  renameSync(made, file);
}
