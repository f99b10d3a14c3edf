import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseDatabase, type Database, type Means } from '../../src/embedded';
import { withLock } from '../../src/embedded/files';
import type { ServerRecord } from '../../src/embedded/types';

/** The process that answers at any address. */
let answering: number | undefined;
jest.mock('../../src/embedded/server', () => ({
  ...jest.requireActual<object>('../../src/embedded/server'),
  identify: () => (answering === undefined ? Promise.reject(new Error('nothing listens')) : Promise.resolve(answering)),
}));

let dataDir: string;

beforeEach(async () => {
  answering = process.pid;
  dataDir = join(await mkdtemp(join(tmpdir(), 'scopegate-run-')), 'data');
});
afterEach(() => rm(join(dataDir, '..'), { recursive: true, force: true }));

const deadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid;

describe('the record of the running server', () => {
  const file = (): string => join(dataDir, 'database.json');
  const record = async (): Promise<ServerRecord> => JSON.parse(await readFile(file(), 'utf8')) as ServerRecord;
  const changeRunning = async (change: ServerRecord['running']): Promise<void> =>
    writeFile(file(), JSON.stringify({ ...(await record()), running: change }));

  const program = { kind: 'binary', program: 'mongod', version: '8', command: 'mongod', storage: 'mongod' } as const;
  let starts = 0;
  const means: Means = {
    candidates: [{ kind: 'binary', title: 'a binary', find: () => Promise.resolve(program) }],
    start: () => {
      starts += 1;
      const exited = new Promise<never>(() => undefined);
      return Promise.resolve({
        uri: 'mongodb://x',
        pid: process.pid,
        port: 4711,
        exited,
        stop: () => Promise.resolve(),
      });
    },
  };
  const choose = (): Promise<Database> =>
    chooseDatabase({ DATA_DIR: dataDir, CACHE_DIR: dataDir, report: () => undefined }, means);
  const isJoined = async (): Promise<boolean> => {
    starts = 0;
    await choose();
    return starts === 0;
  };

  test('is for its user only, and so is the folder of the data', async () => {
    await choose();
    expect((await stat(file())).mode & 0o077).toBe(0);
    expect((await stat(dataDir)).mode & 0o077).toBe(0);
  });

  test('a running server is joined only if its process id matches the recorded one', async () => {
    await choose();
    expect(await isJoined()).toBe(true);
    answering = process.pid + 1;
    await changeRunning({ serverPid: deadPid(), ownerPid: process.pid });
    expect(await isJoined()).toBe(false);
  });

  test('a server whose owner is dead is not joined, nor one that is stopping', async () => {
    const database = await choose();
    await changeRunning({ serverPid: deadPid(), ownerPid: deadPid() });
    expect(await isJoined()).toBe(false);
    await database.stop();
    expect((await record()).running).toBeUndefined();
    await changeRunning({ serverPid: deadPid() });
    expect(await isJoined()).toBe(false);
  });
});

describe('the start lock', () => {
  const lock = (): string => join(dataDir, '..', 'database.lock');

  test('is never held twice', async () => {
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setTimeout(resolve, 20));
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 6 }, () => withLock(lock(), work, {})));
    expect(most).toBe(1);
    expect(existsSync(lock())).toBe(false);
  });

  test('is taken immediately from a dead holder', async () => {
    await writeFile(lock(), String(deadPid()));
    expect(await withLock(lock(), () => Promise.resolve('in'), {})).toBe('in');
  });

  test('is taken from a silent holder, whose id another process may have now, and awaited from another', async () => {
    await writeFile(lock(), String(process.pid));
    const waitedFor: number[] = [];
    const signal = AbortSignal.timeout(100);
    const onWait = (pid: number): void => void waitedFor.push(pid);
    await expect(withLock(lock(), () => Promise.resolve(), { signal, onWait })).rejects.toThrow(/timeout|abort/i);
    expect(waitedFor).toEqual([process.pid]);
    const old = new Date(Date.now() - 60_000);
    await utimes(lock(), old, old);
    expect(await withLock(lock(), () => Promise.resolve('in'), {})).toBe('in');
  });

  test('is released after a failed start', async () => {
    await expect(withLock(lock(), () => Promise.reject(new Error('no')), {})).rejects.toThrow('no');
    expect(existsSync(lock())).toBe(false);
  });
});
