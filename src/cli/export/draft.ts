import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readlinkSync, rmdirSync, rmSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../../embedded/process';
import { MINUTE, SECOND } from '../../units';
import { ATTACHMENTS_FOLDER } from '../records';

/*
 * What an export has written so far: a folder inside the target, until all files are complete (docs/decisions/exports.md). It has personal data,
 * so none may stay behind when an export is killed.
 */

/** An export contains personal data, so only its owner may read it. */
export const OWNER_ONLY = { folder: 0o700, file: 0o600 } as const;

/** How often a running export touches its draft, and for how long an untouched one counts as that of a running export, in milliseconds. */
const TOUCH_EVERY = 5 * SECOND;
const RUNNING_FOR = MINUTE;

/** Where and since when a process id means one process: containers with the same host name have different processes, as has another boot. */
export const PID_NAMESPACE = [hostname(), bootAndNamespace()].join('-').replaceAll(/[^\w.-]/g, '_');
/** `.export.PID.NAMESPACE.RANDOM.part` */
const DRAFT_NAME = /^\.export\.(\d+)\.(.+)\.[0-9a-f]{16}\.part$/;

export interface Draft {
  /** The path of a file that is not complete. */
  readonly path: (file: string) => string;
  /** Moves these files to the target, one after another; of those that were not written, the target's own are removed. Not interrupted once begun. */
  readonly complete: (files: readonly string[]) => Promise<void>;
  /** Removes what was not moved. */
  readonly remove: () => Promise<void>;
}

/**
 * Creates the draft of an export, once it has removed those of exports that were killed. It is removed when the signal aborts or the process
 * exits. @throws Error if the target cannot be written
 */
export async function createDraft(target: string, signal?: AbortSignal): Promise<Draft> {
  const random = randomBytes(8).toString('hex');
  const folder = join(target, `.export.${String(process.pid)}.${PID_NAMESPACE}.${random}.part`);
  await mkdir(target, { recursive: true, mode: OWNER_ONLY.folder });
  await mkdir(folder, { mode: OWNER_ONLY.folder });
  const removeNow = (): void => {
    rmSync(folder, { recursive: true, force: true });
  };
  process.on('exit', removeNow);
  // at once: what is under way may have to wait for the database
  signal?.addEventListener('abort', removeNow);
  await removeAbandoned(target, (await stat(folder)).mtimeMs);
  const path = (file: string): string => join(folder, file);
  const touching = setInterval(() => {
    // by the clock of the file system, which other exports compare it with; `utimes` takes this machine's
    try {
      mkdirSync(path('.touch'));
      rmdirSync(path('.touch'));
    } catch {
      // it was removed
    }
  }, TOUCH_EVERY).unref();
  return {
    path,
    async complete(files) {
      signal?.removeEventListener('abort', removeNow);
      signal?.throwIfAborted();
      for (const file of files) {
        const isWritten = existsSync(path(file));
        // a folder takes the place of another only if that is gone
        if (!isWritten || file === ATTACHMENTS_FOLDER) await rm(join(target, file), { recursive: true, force: true });
        if (isWritten) await rename(path(file), join(target, file));
      }
    },
    async remove() {
      clearInterval(touching);
      await rm(folder, { recursive: true, force: true });
      process.off('exit', removeNow);
      signal?.removeEventListener('abort', removeNow);
    },
  };
}

/** Removes the drafts of exports that no longer run. `now` is the time of the target's file system, in milliseconds since 1970. */
async function removeAbandoned(target: string, now: number): Promise<void> {
  for (const name of await readdir(target)) {
    const [, pid, namespace] = DRAFT_NAME.exec(name) ?? [];
    if (pid === undefined) continue;
    const path = join(target, name);
    // none if another export has just removed it
    const age = now - ((await stat(path).catch(() => undefined))?.mtimeMs ?? now);
    const isGone = namespace === PID_NAMESPACE && !isAlive(Number(pid));
    if (isGone || age > RUNNING_FOR) await rm(path, { recursive: true, force: true });
  }
}

/** This boot of the machine and this namespace; empty where the system does not say. */
function bootAndNamespace(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}-${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return '';
  }
}
