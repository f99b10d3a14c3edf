import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { cpus, platform } from 'node:os';

/* CPU affinity and CPU time of processes. */

/** Cores assigned to the parts of a run. */
export interface Cores {
  readonly server: string;
  readonly others: string;
}

/** Binds this process and everything it starts to all cores but the first; undefined if that is not possible. */
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

/** The command that runs a program on the server core. */
export function onServerCore(cores: Cores | undefined, command: string, args: readonly string[]): [string, string[]] {
  return cores ? ['taskset', ['-c', cores.server, command, ...args]] : [command, [...args]];
}

/** Clock ticks per second in /proc/PID/stat; the kernel's USER_HZ is 100 on all platforms that Node supports. */
const TICKS = 100;

/** CPU time of a process, all threads, in seconds; undefined without /proc. */
export async function cpuSeconds(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${String(pid)}/stat`, 'utf8').catch(() => undefined);
  // the process name before ) may contain spaces
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system] = [Number(fields?.[11]), Number(fields?.[12])];
  return Number.isFinite(user + system) ? (user + system) / TICKS : undefined;
}
