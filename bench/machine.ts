import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { cpus, platform } from 'node:os';

/* What the machine can tell and be asked for: cores for each part, processor time of a process. */

/** Which cores the parts of a run get; undefined where they cannot be bound. */
export interface Cores {
  readonly server: string;
  readonly others: string;
}

/** Binds this process, and so the database and everything else that it starts, to every core but the first. */
export function divideCores(): Cores | undefined {
  const count = cpus().length;
  if (platform() !== 'linux' || count < 2) return undefined;
  const others = count === 2 ? '1' : `1-${String(count - 1)}`;
  try {
    execFileSync('taskset', ['-a', '-p', '-c', others, String(process.pid)], { stdio: 'ignore' });
    return { server: '0', others };
  } catch {
    return undefined;
  }
}

/** The command that runs a program on the server's core. */
export function onServerCore(cores: Cores | undefined, command: string, args: readonly string[]): [string, string[]] {
  return cores ? ['taskset', ['-c', cores.server, command, ...args]] : [command, [...args]];
}

/** Ticks of /proc/PID/stat a second; the kernel's USER_HZ is 100 wherever Node runs. */
const TICKS = 100;

/** Processor time that a process has taken, all threads, in seconds; undefined where /proc is not. */
export async function cpuSeconds(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${String(pid)}/stat`, 'utf8').catch(() => undefined);
  // the name before ) may hold blanks
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system] = [Number(fields?.[11]), Number(fields?.[12])];
  return Number.isFinite(user + system) ? (user + system) / TICKS : undefined;
}
