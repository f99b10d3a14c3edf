/*
 * Preloaded (node --require): on SIGWINCH collects garbage and writes to the file COLLECTED how many bytes are used then, so that a test
 * sees what is kept, and not what is yet to be collected or what the allocator keeps for later; and the longest turn of the event loop since
 * the last time, in milliseconds of processor time, so that other programs on the machine do not count (0 without Linux).
 */
const { readFileSync, renameSync, writeFileSync } = require('node:fs');
const v8 = require('node:v8');
const { runInNewContext } = require('node:vm');

v8.setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

/** Processor time of the first thread so far, in milliseconds. */
const spent = () => {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return 0;
  }
};
let [last, longest] = [spent(), 0];
const note = () => {
  const now = spent();
  longest = Math.max(longest, now - last);
  last = now;
};
// comes once in each turn that takes longer
setInterval(note, 1).unref();

process.on('SIGWINCH', () => {
  note();
  const turn = longest;
  collect();
  const { heapUsed, external } = process.memoryUsage();
  const file = `${process.env.COLLECTED}-${String(process.pid)}`;
  writeFileSync(`${file}.new`, JSON.stringify({ used: heapUsed + external, turn }));
  [last, longest] = [spent(), 0];
  renameSync(`${file}.new`, file);
});
