import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import fs, { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { withLock } from '../../src/database/embedded/lock';
import { announce, clearStale, findRunning } from '../../src/database/embedded/runFile';

/** The processes that answer, by the address of their server. */
const answering = new Map<string, number>();
jest.mock('../../src/database/embedded/ping', () => ({
  identify: (uri: string) => Promise.resolve(answering.get(uri) ?? Promise.reject(new Error('nothing listens'))),
}));

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'scopegate-run-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

/** The address of a server that answers as the process with this id. */
function serverOf(pid = process.pid): string {
  const uri = `mongodb://127.0.0.1:${String(answering.size + 1)}/`;
  answering.set(uri, pid);
  return uri;
}

const deadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid;

const runFile = (): string => join(dataDir, 'database.run.json');

const changeRecord = async (change: Record<string, unknown>): Promise<void> =>
  writeFile(runFile(), JSON.stringify({ ...(JSON.parse(await readFile(runFile(), 'utf8')) as object), ...change }));

describe('the run file', () => {
  const server = () => ({ serverPid: process.pid, kind: 'secantusdb', uri: serverOf(), description: 'fake' }) as const;

  test('a running server is joined only if its process id matches the recorded one', async () => {
    await announce(dataDir, server());
    expect(await findRunning(dataDir)).toMatchObject({ serverPid: process.pid });
    await changeRecord({ uri: serverOf(process.pid + 1) });
    expect(await findRunning(dataDir)).toBeUndefined();
  });

  test('a server that is stopping, or whose owner is dead, is not joined', async () => {
    const run = await announce(dataDir, server());
    await changeRecord({ ownerPid: deadPid() });
    expect(await findRunning(dataDir)).toBeUndefined();
    await changeRecord({ ownerPid: process.pid });
    await run.stopping();
    expect(await findRunning(dataDir)).toBeUndefined();
  });

  test.each([
    ['of a dead server', () => changeRecord({ serverPid: deadPid() })],
    ['that is incomplete', () => writeFile(runFile(), '{"state":"runn')],
  ])('a stale file %s is ignored and removed', async (_what, change) => {
    await announce(dataDir, server());
    await change();
    expect(await findRunning(dataDir)).toBeUndefined();
    await clearStale(dataDir);
    expect(existsSync(runFile())).toBe(false);
  });

  test('an owner removes only its own record', async () => {
    const first = await announce(dataDir, server());
    await announce(dataDir, server());
    await first.remove();
    expect(await findRunning(dataDir)).toBeDefined();
  });
});

describe('the start lock', () => {
  const lock = (): string => join(dataDir, 'database.lock');

  test('is never held twice', async () => {
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setTimeout(resolve, 20));
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 6 }, () => withLock(lock(), work)));
    expect(most).toBe(1);
    expect(existsSync(lock())).toBe(false);
  });

  test('is taken immediately from a dead holder', async () => {
    await writeFile(lock(), JSON.stringify({ pid: deadPid(), host: hostname(), token: 'old' }));
    expect(await withLock(lock(), () => Promise.resolve('in'))).toBe('in');
  });

  test('is taken from a holder on another machine once that is silent', async () => {
    await writeFile(lock(), JSON.stringify({ pid: 1, host: 'elsewhere', token: 'old' }));
    const waitedFor: (number | undefined)[] = [];
    const since = performance.now();
    await withLock(lock(), () => Promise.resolve(), { silentMs: 200, onWait: (pid) => waitedFor.push(pid) });
    expect(performance.now() - since).toBeGreaterThanOrEqual(190);
    expect(waitedFor).toEqual([1]);
  });

  test('that was taken from a live holder by mistake goes back, but never over that of another', async () => {
    await writeFile(lock(), JSON.stringify({ pid: deadPid(), host: hostname(), token: 'old' }));
    const held = (token: string): string => JSON.stringify({ pid: process.pid, host: hostname(), token });
    const rename = fs.rename.bind(fs);
    // between the look at the dead holder and the renaming another one takes the lock, and after the renaming a third
    const renaming = jest.spyOn(fs, 'rename').mockImplementationOnce(async (from, to) => {
      await writeFile(lock(), held('second'));
      await rename(from, to);
      await writeFile(lock(), held('third'));
    });
    const signal = AbortSignal.timeout(100);
    await expect(withLock(lock(), () => Promise.resolve(), { signal })).rejects.toThrow(/timeout|abort/i);
    renaming.mockRestore();
    expect(await readFile(lock(), 'utf8')).toBe(held('third'));
    expect((await readdir(dataDir)).filter((file) => file.startsWith('database.lock.'))).toEqual([]);
  });

  test('is released after a failed start', async () => {
    await expect(withLock(lock(), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(existsSync(lock())).toBe(false);
  });

  test('waiting ends when the signal aborts', async () => {
    await writeFile(lock(), JSON.stringify({ pid: process.pid, host: hostname(), token: 'held' }));
    const signal = AbortSignal.timeout(100);
    await expect(withLock(lock(), () => Promise.resolve(), { signal })).rejects.toThrow(/timeout|abort/i);
  });
});
