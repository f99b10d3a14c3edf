/*
 * Preloaded (node --require): on SIGWINCH collects garbage and writes to the file COLLECTED how many bytes are used then, so that a test
 * sees what is kept, and not what is yet to be collected or what the allocator keeps for later.
 */
const { renameSync, writeFileSync } = require('node:fs');
const v8 = require('node:v8');
const { runInNewContext } = require('node:vm');

v8.setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
process.on('SIGWINCH', () => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  const file = `${process.env.COLLECTED}-${String(process.pid)}`;
  writeFileSync(`${file}.new`, String(heapUsed + external));
  renameSync(`${file}.new`, file);
});
