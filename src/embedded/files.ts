import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { isAlive } from './process';

/** Awaits a result; undefined if it fails with this error code, of the system or of MongoDB. */
export async function unless<T>(code: string | number, result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === code) return undefined;
    throw error;
  }
}

/**
 * Writes a draft and renames it: readers, even after this process was killed, get the old text or the new one, and the file's old mode is
 * dropped. Not after a power cut, since a folder for development needs no fsync.
 */
export async function writeAtomically(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, text, { mode: 0o600 });
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}

/** How often the holder of a lock renews the file's modification time. */
const HEARTBEAT_MS = 2_000;
/** A lock without a heartbeat for so long has lost its holder, even if a process has its id: after a restart, that may be another. */
const STALE_MS = 15_000;

export interface LockOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called once if another process holds the lock. */
  readonly onWait?: (holder: number) => void;
}

/**
 * Runs `work` while no other process holds `file`. A dead holder's lock is removed; if two processes do that at once, both may go on: then
 * the storage's own lock refuses the second server, and of two installations one may fail, and be run again.
 */
export async function withLock<T>(file: string, work: () => Promise<T>, { signal, onWait }: LockOptions): Promise<T> {
  let hasReported = false;
  const create = (): Promise<true> => writeFile(file, String(process.pid), { flag: 'wx' }).then(() => true);
  // it is not if this process was suspended for so long that another took the lock for stale
  const isOwn = async (): Promise<boolean> => (await unless('ENOENT', readFile(file, 'utf8'))) === String(process.pid);
  while (!(await unless('EEXIST', create()))) {
    signal?.throwIfAborted();
    const holder = Number(await unless('ENOENT', readFile(file, 'utf8')));
    const stats = await unless('ENOENT', stat(file));
    if (!stats) continue;
    // the file is empty while its holder writes it
    const isKnown = holder > 0;
    if ((isKnown && !isAlive(holder)) || Date.now() - stats.mtimeMs > STALE_MS) {
      await rm(file, { force: true });
      continue;
    }
    if (isKnown && !hasReported) {
      onWait?.(holder);
      hasReported = true;
    }
    await pause(50, undefined, { signal });
  }
  const renew = async (): Promise<void> => {
    const now = new Date();
    if (await isOwn()) await utimes(file, now, now);
  };
  const heartbeat = setInterval(() => {
    renew().catch(() => undefined);
  }, HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    if (await isOwn()) await rm(file, { force: true });
  }
}
