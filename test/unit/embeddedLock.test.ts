import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withLock } from '../../src/embedded/files';

describe('the start lock', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scopegate-lock-'));
  });
  afterEach(() => rm(folder, { recursive: true }));
  const lock = (): string => join(folder, 'database.lock');

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
    await writeFile(lock(), String(spawnSync(process.execPath, ['-e', '']).pid));
    expect(await withLock(lock(), () => Promise.resolve('in'), {})).toBe('in');
  });

  test('is taken from a silent holder, whose id another process may have now, and awaited from another', async () => {
    await writeFile(lock(), String(process.pid));
    const waitedFor: number[] = [];
    const left = new AbortController();
    const onWait = (pid: number): void => {
      waitedFor.push(pid);
      left.abort();
    };
    await expect(withLock(lock(), () => Promise.resolve(), { signal: left.signal, onWait })).rejects.toThrow(
      /timeout|abort/i,
    );
    expect(waitedFor).toEqual([process.pid]);
    const old = new Date(Date.now() - 60_000);
    await utimes(lock(), old, old);
    expect(await withLock(lock(), () => Promise.resolve('in'), {})).toBe('in');
  });

  test('of a process that does not say who it is yet is awaited, and nobody is named', async () => {
    await writeFile(lock(), '');
    const onWait = jest.fn();
    const waiting = withLock(lock(), () => Promise.resolve(), { signal: AbortSignal.timeout(100), onWait });
    await expect(waiting).rejects.toThrow(/timeout|abort/i);
    expect(onWait).not.toHaveBeenCalled();
  });

  test('is left to the process that has it by the end', async () => {
    const other = String(process.ppid);
    await withLock(lock(), () => writeFile(lock(), other), {});
    expect(await readFile(lock(), 'utf8')).toBe(other);
  });

  test('is released after a failed start', async () => {
    await expect(withLock(lock(), () => Promise.reject(new Error('no')), {})).rejects.toThrow('no');
    expect(existsSync(lock())).toBe(false);
  });
});
