import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseDatabase } from '../../src/embedded';
import { signalQuietly } from '../../src/embedded/process';

/** A separate database that a test can pause: connections stay open but get no answers. */
export interface OwnDatabase {
  readonly uri: string;
  readonly pid: number;
  hold(): void;
  release(): void;
  stop(): Promise<void>;
}

export async function startDatabase(): Promise<OwnDatabase> {
  const { MONGOD_BINARY } = process.env;
  const dataDir = await mkdtemp(join(tmpdir(), 'scopegate-operation-'));
  const database = await chooseDatabase({
    MONGOD_BINARY,
    DATA_DIR: dataDir,
    CACHE_DIR: join(__dirname, '../../.cache'),
    report: () => undefined,
  });
  const record = await readFile(join(dataDir, 'database.json'), 'utf8');
  const { running: run } = JSON.parse(record) as { running: { serverPid: number } };
  // a test may have killed it
  const signal = (name: NodeJS.Signals) => (): void => {
    signalQuietly(run.serverPid, name);
  };
  return {
    uri: database.uri,
    pid: run.serverPid,
    hold: () => {
      signal('SIGSTOP')();
      // a thread on another core may answer one more command before it stops
      while (!isStill(run.serverPid));
    },
    release: signal('SIGCONT'),
    async stop() {
      signal('SIGCONT')();
      await database.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Whether all threads of a process have stopped; true without /proc. */
function isStill(pid: number): boolean {
  const threads = `/proc/${String(pid)}/task`;
  if (!existsSync(threads)) return true;
  try {
    return readdirSync(threads).every((id) => /\) [Tt] /.test(readFileSync(`${threads}/${id}/stat`, 'utf8')));
  } catch {
    // a thread has exited, so the process is still running
    return false;
  }
}
