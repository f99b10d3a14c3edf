import { execFile } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve, sep } from 'node:path';

/** The output of a short command, or why it failed. */
export type Output = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

/** Runs a short command, such as `--version`. Never throws. */
export function ask(command: string, args: readonly string[], signal?: AbortSignal): Promise<Output> {
  return new Promise((answer) => {
    const options = { timeout: 15_000, killSignal: 'SIGKILL', windowsHide: true, ...(signal && { signal }) } as const;
    execFile(command, [...args], options, (error, stdout, stderr) => {
      if (!error) answer({ ok: true, text: stdout.trim() });
      else answer({ ok: false, reason: lastLine(stderr) ?? lastLine(error.message) ?? 'it failed' });
    });
  });
}

/** The executable files of this name on PATH, in order. */
export async function findOnPath(name: string, path: string): Promise<string[]> {
  const names = process.platform === 'win32' ? [`${name}.exe`] : [name];
  const candidates = path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .flatMap((folder) => names.map((file) => join(folder, file)));
  const found = await Promise.all(candidates.map(isExecutable));
  return candidates.filter((_, index) => found[index]);
}

/** Resolves a path or, without a separator, a name on PATH. */
export async function locate(nameOrPath: string, path: string): Promise<string | undefined> {
  if (!isAbsolute(nameOrPath) && !nameOrPath.includes('/') && !nameOrPath.includes(sep)) {
    return (await findOnPath(nameOrPath, path))[0];
  }
  const file = resolve(nameOrPath);
  return (await isExecutable(file)) ? file : undefined;
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

function lastLine(text: string): string | undefined {
  const line = text.trim().split('\n').at(-1);
  return line === '' ? undefined : line;
}
