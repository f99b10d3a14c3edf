import { setTimeout as pause } from 'node:timers/promises';

/** Whether a process with this pid exists, including one of another user (EPERM). */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Signals a process that may have exited already. */
export function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // already gone
  }
}

/** Waits until the process is gone; false if it still runs after `timeoutMs`. */
export async function waitUntilGone(pid: number, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (isAlive(pid)) {
    if (performance.now() > deadline) return false;
    await pause(25, undefined, { signal });
  }
  return true;
}
