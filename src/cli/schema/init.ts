import { cp, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../../package';
import { NONE } from '../../sdl/folder';
import { CommandFailure } from '../ending';
import type { JsonOption } from '../help';
import { printResult } from '../terminal';

const TEMPLATE = join(ROOT, 'examples', 'schema');

/** A text as one word of a POSIX shell. */
const shellWord = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** `scopegate schema init`. @throws CommandFailure if the folder has files, or a name that SCHEMA_DIR cannot have */
export async function initCommand(dir: string, { json }: JsonOption): Promise<void> {
  if (dir === NONE) throw new CommandFailure(`SCHEMA_DIR=${NONE} means no folder; name another folder`);
  await mkdir(dir, { recursive: true });
  if ((await readdir(dir)).length > 0) throw new CommandFailure(`${dir} is not empty; name another folder`);
  await cp(TEMPLATE, dir, { recursive: true });
  // without the folders, whose names have no dot
  const files = (await readdir(dir, { recursive: true })).filter((file) => file.includes('.')).toSorted();
  printResult(
    json,
    { dir, files },
    `Wrote ${files.join(', ')} to ${dir}. Next: SCHEMA_DIR=${shellWord(dir)} npx scopegate demo`,
  );
}
