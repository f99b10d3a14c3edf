import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

/** How long to wait for the rest of the output of a shell that has ended, in milliseconds. */
const REST = 2000;

/** A shell that runs blocks one after another, as a person would: variables, functions and jobs persist. */
export interface Shell {
  /** What the block printed to stdout. @throws with all of it if a command failed, which ends the shell */
  run(text: string): Promise<string>;
  stop(): Promise<void>;
}

/** `folder` is for its scripts. */
export function openShell(folder: string, cwd: string, env: Readonly<Record<string, string>>): Shell {
  const mark = randomUUID();
  const loop = `set -euo pipefail; while IFS= read -r file <&3; do source "$file" < /dev/null 3<&-; printf '\\n%s\\n' ${mark}; done`;
  const child: ChildProcess = spawn('bash', ['-c', loop], { cwd, env, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout!.setEncoding('utf8').on('data', (piece: string) => (stdout += piece));
  child.stderr!.setEncoding('utf8').on('data', (piece: string) => (stderr += piece));
  const orders = child.stdio[3] as Writable;
  orders.on('error', () => undefined);
  const exited = once(child, 'exit');
  // what it printed last may be read after that; a job that it left behind may keep the pipes open
  const isRead = Promise.race([once(child, 'close'), exited.then(() => pause(REST, undefined, { ref: false }))]);
  const isGone = (): boolean => child.exitCode !== null || child.signalCode !== null;
  let count = 0;
  return {
    async run(text) {
      const [from, failed] = [stdout.length, stderr.length];
      if (isGone()) throw new Error(`not run, since the shell has ended before:\n${text}`);
      const file = join(folder, `block-${String((count += 1))}.sh`);
      await writeFile(file, `${text}\n`);
      orders.write(`${file}\n`);
      const end = (): number => stdout.indexOf(`\n${mark}\n`, from);
      while (end() === -1) {
        const isOver = await Promise.race([once(child.stdout!, 'data').then(() => false), exited.then(() => true)]);
        if (!isOver) continue;
        await isRead;
        if (end() === -1)
          throw new Error(
            `the shell ended with ${String(child.exitCode ?? child.signalCode)} in:\n${text}\n\nstdout: ${stdout.slice(from)}\nstderr: ${stderr.slice(failed)}`,
          );
      }
      return stdout.slice(from, end());
    },
    async stop() {
      // a block that waits in vain would never end
      child.kill('SIGKILL');
      await exited;
    },
  };
}
