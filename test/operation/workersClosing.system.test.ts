import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { closeUntakenConnections } from '../../src/cli/serve/untakenConnections';

/** One attempt; false if the port was closed before its connection was accepted, which the system decides. */
async function isSentWhileClosing(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'scopegate-closing-'));
  const [blocked, closed] = [join(folder, 'blocked'), join(folder, 'closed')];
  const exec = join(__dirname, '..', 'support', 'closingWorker.cjs');
  cluster.setupPrimary({ exec, args: [blocked, closed], execArgv: [] });
  const worker = cluster.fork();
  closeUntakenConnections(new Set<Worker>([worker]))(worker);
  let isRefused = false;
  worker.process.on('internalMessage' as never, ({ accepted }: { accepted?: boolean }) => {
    if (accepted === false) isRefused = true;
  });
  try {
    await once(worker, 'message');
    worker.send('begin');
    // nothing is left to be read from the worker, or that would be read before the connection is accepted
    for (let turns = 0; turns < 10; turns += 1) await turn();
    writeFileSync(blocked, '');
    while (!existsSync(closed));
    expect(await once(worker, 'message')).toMatchObject([{ test: 'ended' }]);
    expect(worker.isDead()).toBe(false);
    return isRefused;
  } finally {
    worker.process.kill('SIGKILL');
  }
}

test('a connection that the last worker is sent while it closes its port is closed while that worker is still running', async () => {
  for (let tries = 1; !(await isSentWhileClosing()); tries += 1) expect(tries).toBeLessThan(30);
});
