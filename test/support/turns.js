const { readFile, rm, writeFile } = require('node:fs/promises');
const { setTimeout: sleep } = require('node:timers/promises');

/** How often to look whether it is free, in milliseconds. */
const LOOK_EVERY = 100;

/**
 * Waits until no other worker runs a test file; returns what ends the turn. SecantusDB's Python server has one core: six files took
 * 260 s one after another, and three at a time 1,000 s, with waits of minutes in tests. globalSetup.ts names the file for it.
 */
async function takeTurn(file) {
  for (;;) {
    try {
      await writeFile(file, String(process.pid), { flag: 'wx' });
      return () => rm(file, { force: true });
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holder = Number(await readFile(file, 'utf8').catch(() => ''));
    // of a worker that was killed; empty while it is being written
    if (holder > 0 && !isAlive(holder)) await rm(file, { force: true });
    else await sleep(LOOK_EVERY);
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

module.exports = { takeTurn };
