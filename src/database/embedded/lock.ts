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
  /** Called once when another process holds the lock. */
  readonly onWait?: (holderPid: number | undefined) => void;
  /** A holder of another machine or container counts as dead after so long without a sign of life. */
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
  let toldWaiting = false;
  for (;;) {
    options.signal?.throwIfAborted();
    if (await create(file, { pid: process.pid, host: hostname(), token })) return token;

    const holder = await readHolder(file);
    const mtimeMs = await modified(file);
    if (mtimeMs === undefined) continue;
    // measured by the waiter's own clock, so neither clock skew nor a laptop's sleep makes a live holder look dead
    if (mtimeMs !== seen.mtimeMs) Object.assign(seen, { mtimeMs, since: performance.now() });
    const silent = performance.now() - seen.since > (options.silentMs ?? SILENT_MS);
    const dead = holder?.host === hostname() && !isAlive(holder.pid);
    if (dead || silent) {
      await discard(file, holder, token);
      continue;
    }
    if (!toldWaiting) options.onWait?.(holder?.pid);
    toldWaiting = true;
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

/** Renamed first: of two that found the lock stale only one gets the rename, and looks again at what it took. */
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
    // gone, or its holder has not written it yet
    return undefined;
  }
}

async function modified(file: string): Promise<number | undefined> {
  return stat(file).then(
    (found) => found.mtimeMs,
    () => undefined,
  );
}
