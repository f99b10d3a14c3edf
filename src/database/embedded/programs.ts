import { execFile } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { Unusable } from './failures';

const execute = promisify(execFile);

/** The output of a short command, such as `--version`. @throws Unusable with the last line of its error */
export async function ask(command: string, args: readonly string[], signal?: AbortSignal): Promise<string> {
  const options = { timeout: 15_000, killSignal: 'SIGKILL', windowsHide: true, signal } as const;
  try {
    return (await execute(command, args, options)).stdout.trim();
  } catch (error) {
    // the message ends with what the command wrote to stderr
    throw new Unusable((error as Error).message.trim().split('\n').at(-1));
  }
}

/** The executable files of these names on PATH, in order. */
export async function findOnPath(names: readonly string[], path: string): Promise<string[]> {
  const extension = process.platform === 'win32' ? '.exe' : '';
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name + extension)));
  const usable = await Promise.all(candidates.map(isExecutable));
  return candidates.filter((_, index) => usable[index]);
}

/** Whether this user may execute a file. */
export async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

/** What `use` makes of the first command that works. @throws Unusable with what `explain` makes of the reasons of all */
export async function firstUsable<T>(
  commands: readonly string[],
  use: (command: string) => Promise<T>,
  explain: (reasons: string) => string,
): Promise<T> {
  const reasons: string[] = [];
  for (const command of commands) {
    try {
      return await use(command);
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      reasons.push(`${command}: ${error.message}`);
    }
  }
  throw new Unusable(explain(reasons.join('; ')));
}
