import { spawn } from 'node:child_process';
import { join } from 'node:path';

export const ROOT = join(__dirname, '..', '..');

/** Runs a program and returns its stdout and stderr together; throws with them if it fails. */
export async function run(
  command: string,
  args: readonly string[],
  { cwd = ROOT, env = {} }: { cwd?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(command, args, {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} exited with ${String(code)}:\n${text}`);
  return text;
}
