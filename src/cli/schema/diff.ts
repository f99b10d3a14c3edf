import { ownFolder, useFolder } from '../../sdl/folder';
import { CommandFailure, refuseSchema } from '../ending';
import type { JsonOption } from '../help';
import { print, printJson } from '../terminal';
import { folderErrors } from './check';

/** `scopegate schema diff`. @throws CommandFailure if a change breaks callers */
export async function diffCommand(
  dir: string | undefined,
  { against, json }: JsonOption & { readonly against: string },
): Promise<void> {
  const folder = dir ?? ownFolder();
  if (folder !== undefined) {
    useFolder(folder);
    refuseSchema(await folderErrors(folder));
  }
  // imported only then, since loading its modules reads the schema, which fails if a file cannot be parsed
  const { changesOf } = await import('./compare.js');
  const { breaking, safe, hasDirectives } = changesOf(against, folder);
  if (json) printJson({ breaking, safe, ...(!hasDirectives && { types_only: true }) });
  else {
    for (const line of breaking) print(`breaking  ${line}`);
    for (const line of safe) print(`safe      ${line}`);
    if (breaking.length + safe.length === 0) print('no change');
    if (!hasDirectives)
      print(`types only: ${against} has no routes, scopes and limits; write it with scopegate schema --directives`);
  }
  if (breaking.length > 0)
    throw new CommandFailure(
      `${String(breaking.length)} of ${String(breaking.length + safe.length)} changes break callers`,
    );
}
