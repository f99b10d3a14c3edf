/*
 * Loads a large script with the code that V8 compiled for it when it was first run. The script is one of `node main.js`,
 * of which tests start hundreds.
 */
const { hash } = require('node:crypto');
const { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { basename, dirname, join } = require('node:path');
const { cachedDataVersionTag } = require('node:v8');
const { Script } = require('node:vm');

const HEAD = '(function (exports, require, module, __filename, __dirname) {';

/** The exports of a script of ASCII characters, without `import()`. */
module.exports = function load(filename) {
  const text = `${HEAD}${readFileSync(filename, 'latin1')}\n})`;
  const [, program = '', command = ''] = process.argv;
  // what V8 compiled is what the process called: some functions with `serve`, others with `export`
  const ran = /^\w+$/.test(command) ? command : basename(program);
  // V8 takes the code of any text of the same length, and none of a process with other flags; Node 20 crashes on what Node 24 compiled
  const ofText = `${filename}.${hash('sha256', text).slice(0, 16)}.`;
  const kept = `${ofText}${process.version}.${String(cachedDataVersionTag())}.${ran}.cache`;
  const cachedData = existsSync(kept) ? readFileSync(kept) : undefined;
  const script = new Script(text, { filename, columnOffset: -HEAD.length, cachedData });
  if (!cachedData || script.cachedDataRejected)
    process.on('exit', () => keep(kept, script.createCachedData(), { filename, ofText }));
  const loaded = { exports: {} };
  script.runInThisContext()(loaded.exports, createRequire(filename), loaded, filename, dirname(filename));
  return loaded.exports;
};

/** Removes the code of earlier texts. Never half of it, if several processes begin without. */
function keep(file, data, { filename, ofText }) {
  const made = `${file}.${String(process.pid)}`;
  writeFileSync(made, data);
  renameSync(made, file);
  for (const name of readdirSync(dirname(file))) {
    const other = join(dirname(file), name);
    if (other.startsWith(`${filename}.`) && name.endsWith('.cache') && !other.startsWith(ofText))
      rmSync(other, { force: true });
  }
}
