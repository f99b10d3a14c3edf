import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { recordKinds } from '../../resources';
import type { RecordKind } from '../../stored/records';
import { CommandFailure, usageFailure } from '../common/failure';
import { fileName } from '../records/schemas';
import { type FileReport, importFile, type ImportTarget } from './importFile';
import { recordReaders } from './readRecord';

export interface ImportPathOptions extends ImportTarget {
  /** A folder with products.ndjson, customers.ndjson and so on, or one such file. */
  readonly path: string;
  /** Files for which this is false are skipped. */
  readonly wanted?: (kind: RecordKind, path: string) => Promise<boolean>;
}

/**
 * Imports NDJSON records, in the order of the resources. Valid lines are stored in batches, invalid ones are reported
 * and skipped. Records already stored are unchanged, so running it again completes an interrupted import.
 * @throws CommandFailure if there is nothing to import at the path.
 */
export async function importPath({ path, wanted, ...target }: ImportPathOptions): Promise<Record<string, FileReport>> {
  const files = findFiles(path);
  const reader = recordReaders(recordKinds);
  const reports: Record<string, FileReport> = {};
  for (const { kind, file, size } of files) {
    if (target.signal?.aborted) break;
    if (wanted && !(await wanted(kind, file))) continue;
    target.progress.start(kind.file, size);
    try {
      reports[kind.file] = await importFile(kind, file, reader(kind), target);
    } finally {
      target.progress.stop();
    }
  }
  return reports;
}

interface FoundFile {
  readonly kind: RecordKind;
  readonly file: string;
  /** Bytes. */
  readonly size: number;
}

/** The files to import at a path, in the order of the kinds. @throws CommandFailure if there are none. */
function findFiles(path: string): FoundFile[] {
  const names = recordKinds.map(fileName).join(', ');
  const at = statSync(path, { throwIfNoEntry: false });
  if (!at) throw new CommandFailure(`no such file or folder: ${path}`);
  if (!at.isDirectory()) {
    const kind = recordKinds.find((candidate) => fileName(candidate) === basename(path));
    if (!kind) throw usageFailure(`cannot import ${path}; expected one of ${names}`);
    return [{ kind, file: path, size: at.size }];
  }
  const found = recordKinds.flatMap((kind) => {
    const file = join(path, fileName(kind));
    const stats = statSync(file, { throwIfNoEntry: false });
    return stats && !stats.isDirectory() ? [{ kind, file, size: stats.size }] : [];
  });
  if (found.length === 0) throw new CommandFailure(`nothing to import in ${path}; expected at least one of ${names}`);
  return found;
}
