import { randomUUID } from 'node:crypto';
import { link, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { isAlive } from './liveness';
import { readRecord, unless } from './recordFile';

const HEARTBEAT_MS = 2_000;
const SILENT_MS = 15_000;

const holderShape = z.object({ pid: z.number().int().positive(), host: z.string(), token: z.string() });
type Holder = z.infer<typeof holderShape>;

export interface LockOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called once if another process holds the lock. */
  readonly onWait?: (holderPid: number | undefined) => void;
  /** A holder on another machine or in another container is considered dead after this time without a heartbeat. */
  readonly silentMs?: number;
}

/** Runs `work` while no other process holds `file`; a dead holder's lock is taken over. */
export async function withLock<T>(file: string, work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  const own = { pid: process.pid, host: hostname(), token: randomUUID() };
  await acquire(file, own, options);
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => undefined);
  }, HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    if ((await readRecord(file, holderShape))?.token === own.token) await rm(file, { force: true });
  }
}

async function acquire(file: string, own: Holder, options: LockOptions): Promise<void> {
  const { signal, onWait, silentMs = SILENT_MS } = options;
  const seen = { mtimeMs: Number.NaN, since: 0 };
  let isWaiting = false;
  for (;;) {
    signal?.throwIfAborted();
    if (await succeeds('EEXIST', writeFile(file, JSON.stringify(own), { flag: 'wx' }))) return;
    const holder = await readRecord(file, holderShape);
    const found = await unless('ENOENT', stat(file));
    if (!found) continue;
    // measured with our own clock, so that neither clock skew nor a sleeping laptop makes a live holder look dead
    if (found.mtimeMs !== seen.mtimeMs) Object.assign(seen, { mtimeMs: found.mtimeMs, since: performance.now() });
    const isSilent = performance.now() - seen.since > silentMs;
    const isDead = holder?.host === own.host && !isAlive(holder.pid);
    if (isDead || isSilent) {
      await discard(file, holder, own);
      continue;
    }
    if (!isWaiting) onWait?.(holder?.pid);
    isWaiting = true;
    await pause(50, undefined, { signal });
  }
}

/** Renames the lock first, so that only one of two processes that find it stale gets it, and then checks what it renamed. */
async function discard(file: string, judged: Holder | undefined, { token }: Holder): Promise<void> {
  const aside = `${file}.${token}`;
  if (!(await succeeds('ENOENT', rename(file, aside)))) return;
  const taken = await readRecord(aside, holderShape);
  // linked back, not renamed, which would replace a lock that somebody has taken meanwhile
  if (taken?.token !== judged?.token) await succeeds('EEXIST', link(aside, file));
  await rm(aside, { force: true });
}

/** Whether work succeeds; false if it fails with this code. */
const succeeds = async (code: string, work: Promise<void>): Promise<boolean> =>
  (await unless(
    code,
    work.then(() => true),
  )) ?? false;
