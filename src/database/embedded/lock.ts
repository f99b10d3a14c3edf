import { randomUUID } from 'node:crypto';
import { open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { z } from 'zod';
import { hasCode } from './failures';
import { isAlive, pause } from './liveness';

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
  const token = await acquire(file, options);
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => undefined);
  }, HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    if ((await readHolder(file))?.token === token) await rm(file, { force: true });
  }
}

async function acquire(file: string, options: LockOptions): Promise<string> {
  const token = randomUUID();
  const seen = { mtimeMs: Number.NaN, since: performance.now() };
  let reportedWaiting = false;
  for (;;) {
    options.signal?.throwIfAborted();
    if (await create(file, { pid: process.pid, host: hostname(), token })) return token;

    const holder = await readHolder(file);
    const mtimeMs = await modified(file);
    if (mtimeMs === undefined) continue;
    // measured with our own clock, so that neither clock skew nor a sleeping laptop makes a live holder look dead
    if (mtimeMs !== seen.mtimeMs) Object.assign(seen, { mtimeMs, since: performance.now() });
    const silent = performance.now() - seen.since > (options.silentMs ?? SILENT_MS);
    const dead = holder?.host === hostname() && !isAlive(holder.pid);
    if (dead || silent) {
      await discard(file, holder, token);
      continue;
    }
    if (!reportedWaiting) options.onWait?.(holder?.pid);
    reportedWaiting = true;
    await pause(50, options.signal);
  }
}

async function create(file: string, holder: Holder): Promise<boolean> {
  try {
    const handle = await open(file, 'wx');
    await handle.writeFile(JSON.stringify(holder)).finally(() => handle.close());
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** Renames first, so that only one of two processes that find a stale lock gets it; it then checks what it renamed. */
async function discard(file: string, judged: Holder | undefined, token: string): Promise<void> {
  const aside = `${file}.${token}`;
  try {
    await rename(file, aside);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return;
    throw error;
  }
  const taken = await readHolder(aside);
  if (taken?.token === judged?.token) await rm(aside, { force: true });
  else await rename(aside, file);
}

async function readHolder(file: string): Promise<Holder | undefined> {
  try {
    return holderShape.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    // deleted, or not written yet
    return undefined;
  }
}

async function modified(file: string): Promise<number | undefined> {
  return stat(file).then(
    (found) => found.mtimeMs,
    () => undefined,
  );
}
