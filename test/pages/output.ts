import { spawn } from 'node:child_process';

/** What a program prints for this input; not synchronously, since the gateway is in the same process. */
export async function output(
  [program, ...args]: readonly [string, ...string[]],
  input: string,
  environment: Record<string, string>,
): Promise<string> {
  const child = spawn(program, args, { env: { ...process.env, NO_PROXY: '127.0.0.1', ...environment } });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  child.stdin.end(input);
  await new Promise((resolve) => child.on('close', resolve));
  return text;
}
