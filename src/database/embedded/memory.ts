import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { DatabaseUnavailable, hasCode } from './failures';
import type { Remembered } from './types';

const shape = z.object({
  kind: z.enum(['binary', 'memory-server', 'secantusdb']),
  program: z.enum(['mongod', 'secantusd-rs', 'secantusd-py']),
  version: z.string(),
  command: z.string(),
  storage: z.string(),
  port: z.number().int(),
});

export const memoryFileOf = (dataDir: string): string => join(dataDir, 'database.json');

/** The server that created the data in this folder; undefined on the first start. */
export async function recall(dataDir: string): Promise<Remembered | undefined> {
  const file = memoryFileOf(dataDir);
  try {
    return shape.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    // guessing could start an empty database next to the user's data
    throw new DatabaseUnavailable(
      `${file}, which records the server that created the data, cannot be read; fix it, or delete it to choose a database again`,
    );
  }
}

/** Written atomically, so that a crash leaves either the old file or the new one. */
export async function remember(dataDir: string, choice: Remembered): Promise<void> {
  const draft = `${memoryFileOf(dataDir)}.draft`;
  await writeFile(draft, `${JSON.stringify(choice, undefined, 2)}\n`);
  await rename(draft, memoryFileOf(dataDir));
}
