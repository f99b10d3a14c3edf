import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { RecordKind } from '../../resources/common/records';
import { CommandFailure, usageFailure } from '../common/failure';

export interface FoundFile {
  readonly kind: RecordKind;
  readonly path: string;
  /** Bytes. */
  readonly size: number;
}

/** The files to import at a path, in the order of the kinds. @throws CommandFailure if there are none. */
export async function findFiles(path: string, kinds: readonly RecordKind[]): Promise<FoundFile[]> {
  const names = kinds.map(fileName).join(', ');
  const at = await statOf(path);
  if (!at) throw new CommandFailure(`no such file or folder: ${path}`);
  if (!at.isDirectory()) {
    const kind = kinds.find((candidate) => fileName(candidate) === basename(path));
    if (!kind) throw usageFailure(`cannot import ${path}; expected one of ${names}`);
    return [{ kind, path, size: at.size }];
  }
  const found: FoundFile[] = [];
  for (const kind of kinds) {
    const file = join(path, fileName(kind));
    const stats = await statOf(file);
    if (stats && !stats.isDirectory()) found.push({ kind, path: file, size: stats.size });
  }
  if (found.length === 0) throw new CommandFailure(`nothing to import in ${path}; expected at least one of ${names}`);
  return found;
}

export function fileName(kind: RecordKind): string {
  return `${kind.file}.ndjson`;
}

async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
