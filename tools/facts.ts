import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem, type } from 'node:os';
import { resolve } from 'node:path';

/* The revision and the machine, for reports. */

export const ROOT = resolve(__dirname, '..');

/** The short commit hash, and whether src has uncommitted changes. */
export function revision(): string {
  try {
    const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
    return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', 'src') === '' ? '' : ' with changes'}`;
  } catch {
    return 'no revision';
  }
}

export function describeMachine(): string {
  const [cpu] = cpus();
  const memory = `${String(Math.round(totalmem() / 2 ** 30))} GiB`;
  return `${type()} ${release()}, ${String(cpus().length)} cores (${cpu?.model.trim() ?? 'unknown'}), ${memory}, Node ${process.version}`;
}
