import { ownFolder, useFolder } from '../../sdl/folder';
import { readOwn } from '../../sdl/own';
import { CommandFailure, usageFailure } from '../ending';
import type { JsonOption } from '../help';
import { counted, print, printJson } from '../terminal';

/** `scopegate schema check`. @throws CommandFailure if something is wrong */
export async function checkCommand(
  given: string | undefined,
  { data, json }: JsonOption & { readonly data?: true },
): Promise<void> {
  const folder = given ?? ownFolder();
  if (folder === undefined) throw usageFailure('name the folder, or set SCHEMA_DIR');
  useFolder(folder);
  const errors = await folderErrors(folder);
  if (errors.length > 0) {
    if (json) printJson({ ok: false, errors });
    else for (const line of errors) print(line);
    throw new CommandFailure(`${counted(errors.length, 'error')} in ${folder}`);
  }
  if (!data) {
    if (json) printJson({ ok: true, errors });
    else print(`${folder} is valid`);
    return;
  }
  const { rowsCommand } = await import('../doctor/rows.js');
  await rowsCommand({ ...(json && { json }) });
}

/** Everything that is wrong with the folder, which must be the one in use (useFolder), a line each. */
export async function folderErrors(folder: string): Promise<readonly string[]> {
  const { errors } = readOwn(folder, { noLocation: true });
  // imported only then, since loading its modules reads the schema, which fails if a file cannot be parsed
  return errors.length > 0 ? errors : (await import('./own.js')).parsedFolderErrors(folder, { runsRules: true });
}
