import { recordKinds } from '../../resources';
import type { RecordKind } from '../../resources/common/records';
import { findFiles } from './findFiles';
import { importFile } from './importFile';
import { recordReaders } from './readRecord';
import type { FileReport, ImportTarget } from './report';

export interface ImportOptions extends ImportTarget {
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
export async function importPath({ path, wanted, ...target }: ImportOptions): Promise<Record<string, FileReport>> {
  const files = await findFiles(path, recordKinds);
  const reader = recordReaders(recordKinds);
  const reports: Record<string, FileReport> = {};
  for (const file of files) {
    if (target.signal?.aborted) break;
    if (wanted && !(await wanted(file.kind, file.path))) continue;
    target.progress.start(file.kind.file, file.size);
    try {
      reports[file.kind.file] = await importFile(file.kind, file.path, reader(file.kind), target);
    } finally {
      target.progress.stop();
    }
  }
  return reports;
}
