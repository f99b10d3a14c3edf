import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/* Programs that some tests need and npm cannot install. Where one is absent its suites are left out, but not in CI. */

/** The first of the named programs that is on PATH. */
export function findProgram(...names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** `describe` for suites that need a program; says what to install where they are left out. */
export function describeWith(program: string | undefined, install: string): jest.Describe {
  if (program !== undefined || process.env.CI) return describe;
  process.stderr.write(`left out, for want of a program: ${install}\n`);
  return describe.skip;
}
