import { spawn } from 'node:child_process';
import { join } from 'node:path';

export const ROOT = join(__dirname, '../../..');

interface Settings {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** Starts a program with no more of this environment than PATH and HOME. */
export function launch(command: string, args: readonly string[], { cwd = ROOT, env = {}, input = '' }: Settings = {}) {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(command, args, { cwd, env: { PATH, HOME, ...env } });
  child.stdin.on('error', () => undefined).end(input);
  let [stdout, stderr, said] = ['', '', ''];
  child.stdout.setEncoding('utf8').on('data', (piece: string) => ([stdout, said] = [stdout + piece, said + piece]));
  child.stderr.setEncoding('utf8').on('data', (piece: string) => ([stderr, said] = [stderr + piece, said + piece]));
  const closed = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  return {
    /** Resolves with its exit code. */
    closed,
    stdout: () => stdout,
    stderr: () => stderr,
    /** Both. */
    said: () => said,
    hasEnded: () => child.exitCode !== null,
    async kill(): Promise<void> {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

/** Runs a program and returns its stdout and stderr together; throws with them if it fails. */
export async function run(command: string, args: readonly string[], settings?: Settings): Promise<string> {
  const { closed, said } = launch(command, args, settings);
  const code = await closed;
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} exited with ${String(code)}:\n${said()}`);
  return said();
}
