const { mkdir, readdir, rm, writeFile } = require('node:fs/promises');
const { join } = require('node:path');
const { setTimeout: sleep } = require('node:timers/promises');
const { isAlive } = require('../../src/database/embedded/liveness');

/** How often to look whose turn it is, in milliseconds. */
const LOOK_EVERY = 100;

/**
 * Waits until no other worker runs a test file, in the order in which they came; returns what ends the turn. SecantusDB's Python server
 * has one core: webhooks/delivery took 52 s alone, and 350 s beside two others on a busy machine, with waits past every limit.
 * globalSetup.ts names the folder for it.
 */
async function takeTurn(folder) {
  await mkdir(folder, { recursive: true });
  const own = `${String(process.hrtime.bigint()).padStart(20, '0')}-${String(process.pid)}`;
  await writeFile(join(folder, own), '');
  for (;;) {
    const [first] = (await readdir(folder)).sort();
    if (first === own) return () => rm(join(folder, own), { force: true });
    // of a worker that was killed
    if (first !== undefined && !isAlive(Number(first.split('-')[1]))) await rm(join(folder, first), { force: true });
    else await sleep(LOOK_EVERY);
  }
}

module.exports = { takeTurn };
