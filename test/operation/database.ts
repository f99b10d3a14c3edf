import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseDatabase } from '../../src/database/embedded';

/** A database of a test's own, which it can hold still: it keeps its connections and answers nothing. */
export interface OwnDatabase {
  readonly uri: string;
  hold(): void;
  release(): void;
  stop(): Promise<void>;
}

export async function startDatabase(): Promise<OwnDatabase> {
  const { MONGOD_BINARY, PATH } = process.env;
  const dataDir = await mkdtemp(join(tmpdir(), 'scopegate-operation-'));
  const database = await chooseDatabase({
    MONGOD_BINARY,
    DATA_DIR: dataDir,
    CACHE_DIR: join(__dirname, '..', '..', '.cache'),
    PATH: PATH ?? '',
    report: () => undefined,
  });
  const run = JSON.parse(await readFile(join(dataDir, 'database.run.json'), 'utf8')) as { serverPid: number };
  const signal = (name: NodeJS.Signals) => (): void => void process.kill(run.serverPid, name);
  return {
    uri: database.uri,
    hold: () => {
      signal('SIGSTOP')();
      // a thread on another core may answer one more question before it stops
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

/** Whether every thread of a process has stopped; taken for granted where /proc is not. */
function isStill(pid: number): boolean {
  const threads = `/proc/${String(pid)}/task`;
  if (!existsSync(threads)) return true;
  try {
    return readdirSync(threads).every((id) => /\) [Tt] /.test(readFileSync(`${threads}/${id}/stat`, 'utf8')));
  } catch {
    // a thread that was there is gone, so they run
    return false;
  }
}
