import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/* Programs that some tests need and npm cannot install. Without them their suites are skipped, except in CI. */

/** The first of these programs found on the PATH. */
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

/** `describe` for suites that need a program; if they are skipped, prints what to install. */
export function describeWith(program: string | undefined, install: string): jest.Describe {
  if (program !== undefined || process.env.CI) return describe;
  process.stderr.write(`skipped, missing program: ${install}\n`);
  return describe.skip;
}
