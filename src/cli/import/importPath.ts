import { recordKinds } from '../../resources';
import type { RecordKind } from '../../resources/common/records';
import { findFiles } from './findFiles';
import { importFile } from './importFile';
import { recordReaders } from './readRecord';
import type { FileReport, ImportTarget } from './report';

export interface ImportOptions extends ImportTarget {
  /** A folder with any of products, customers, quotes, orders and requests .ndjson, or one such file. */
  readonly path: string;
  /** Leaves out the files for which this does not hold. */
  readonly wanted?: (kind: RecordKind, path: string) => Promise<boolean>;
}

/**
 * Imports NDJSON records, in the order of the resources. Good lines are stored in whole batches, bad ones are told and
 * left out; what is stored already is left as it is, so a run that was interrupted is completed by the next.
 * @throws CommandFailure when there is nothing to import at the path.
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
