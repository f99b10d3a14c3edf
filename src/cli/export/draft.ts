import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../../embedded/process';
import { MINUTE, SECOND } from '../../units';
import { CommandFailure } from '../ending';
import { ATTACHMENTS_FOLDER } from '../records';
import { syncNames } from './sync';

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

interface DraftFiles {
  /** All that an export may have. */
  readonly files: readonly string[];
  readonly written: ReadonlySet<string>;
  /** Whether those in the target may be replaced and removed. */
  readonly force: boolean;
}

export interface Draft {
  /** The path of a file that is not complete. */
  readonly path: (file: string) => string;
  /**
   * Moves the `written` ones of an export's `files` to the target, in this order, and removes the target's own of the others. No signal comes
   * between two of them, and once it resolves their names survive a power cut.
   * @throws CommandFailure as {@link existingIn} does, or if the draft was removed; then nothing was moved
   */
  readonly complete: (from: DraftFiles) => Promise<void>;
  /** Removes what was not moved, and what was in the target before. */
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
    async complete({ files, written, force }) {
      signal?.throwIfAborted();
      // no pause until the last rename: a second signal ends the process, which removes the draft
      const existing = existingIn(target, files, force);
      if (![...written].every((file) => existsSync(path(file))))
        throw new CommandFailure(
          'nothing was written: this process stood still for a minute, so another export took its files for abandoned and removed them; run the same command again',
        );
      for (const file of files) {
        const isWritten = written.has(file);
        // a folder takes the place of another only if that is gone
        const isInTheWay = existing.includes(file) && (!isWritten || file === ATTACHMENTS_FOLDER);
        if (isInTheWay) renameSync(join(target, file), path(`${file}.former`));
        if (isWritten) renameSync(path(file), join(target, file));
      }
      await syncNames(target);
    },
    async remove() {
      clearInterval(touching);
      await rm(folder, { recursive: true, force: true });
      process.off('exit', removeNow);
      signal?.removeEventListener('abort', removeNow);
    },
  };
}

/** The files of an export that are in a folder. @throws CommandFailure if there are any, unless `force` is set */
export function existingIn(folder: string, files: readonly string[], force: boolean): string[] {
  const existing = readdirSync(folder).filter((file) => files.includes(file));
  if (force || existing.length === 0) return existing;
  throw new CommandFailure(
    `${folder} already has ${existing.join(', ')}; use another folder, or remove them, as export does with --force`,
  );
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
