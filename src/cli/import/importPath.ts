import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { OrganisationData } from '../../tenant/organisationData';
import { recordKinds } from '../../resources';
import type { Writer } from '../../tenant/slots';
import type { ImportRecord, RecordKind, Stamp, StoredRecord } from '../../stored/records';
import { CommandFailure, usageFailure } from '../ending';
import { storeWithFiles } from './attachments';
import { STDIN } from '../ndjson';
import { fileName, KEYS_FILE, recordReaders, WEBHOOKS_FILE } from '../records';
import { type FileReport, importFile, type ImportReporter } from './importFile';
import { deleteMissing, storedIds } from './missing';

const BY = 'operator' satisfies Writer;

interface ImportPathOptions extends ImportReporter {
  readonly data: OrganisationData;
  /** A folder with products.ndjson, customers.ndjson and so on, one such file, or {@link STDIN}. */
  readonly path: string;
  /** What is in the file, by the name of such a file without .ndjson. */
  readonly type?: string | undefined;
  /** Its currency is a default of records; without it, they may not lack members that have a default. */
  readonly organisation?: { readonly currency: string };
  /** Whether `updated_at` is the time of the import or that in the file, the default. */
  readonly stamp?: Stamp;
  /**
   * What to do with stored objects that were there when the import began and that a file does not have, once it was stored whole and is not
   * empty; by default, nothing.
   */
  readonly missing?: 'delete' | 'count' | undefined;
}

/**
 * Imports NDJSON records, in the order of the resources. Valid lines are stored in batches; invalid ones are reported and
 * skipped. Records replace what is stored under their ids, or leave it if it is equal, so running an interrupted import again completes it.
 * @throws CommandFailure if there is nothing to import at the path.
 */
export async function importPath(options: ImportPathOptions): Promise<Record<string, FileReport>> {
  const { path, type, stamp, missing: whatIfMissing, organisation, data, ...reporter } = options;
  const files = findFiles(path, type);
  const reader = recordReaders(recordKinds, organisation);
  const reports: Record<string, FileReport> = {};
  const isStopped = (): boolean => reporter.signal?.aborted === true;
  const kinds = files.map(({ kind }) => kind);
  const stored = whatIfMissing && (await storedIds(data, kinds, reporter.signal));
  for (const { kind, file } of files) {
    if (isStopped()) break;
    const store = (records: readonly ImportRecord[]): Promise<StoredRecord[]> =>
      storeWithFiles(kind, data, records, { folder: folderOf(path), stamp, by: BY });
    const missing = stored?.get(kind);
    const report = await importFile(file, { name: kind.file, read: reader(kind), store, missing }, reporter);
    reports[kind.file] = report;
    if (!missing || report.failed > 0 || report.read === 0 || isStopped()) continue;
    if (whatIfMissing === 'delete') report.deleted = await deleteMissing(data, kind, missing, { ...reporter, by: BY });
    else report.missing = missing.size;
  }
  return reports;
}

/** The NDJSON files of a folder that have the name of no file of an export, with the types that there are. */
export function unknownFiles(folder: string): string[] {
  const known = [...recordKinds.map(fileName), KEYS_FILE, WEBHOOKS_FILE];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.ndjson') && !known.includes(name))
    .sort();
}

/** The folder of the records, in which that of attachments is; undefined for standard input. */
function folderOf(path: string): string | undefined {
  if (path === STDIN) return undefined;
  return statSync(path).isDirectory() ? path : dirname(path);
}

/** The files to import at a path, in the order of the kinds. @throws CommandFailure if there are none. */
function findFiles(path: string, type: string | undefined): { readonly kind: RecordKind; readonly file: string }[] {
  const names = recordKinds.map(fileName).join(', ');
  const named = recordKinds.find(({ file }) => file === type);
  if (type !== undefined && !named)
    throw usageFailure(`--type must be one of ${recordKinds.map(({ file }) => file).join(', ')}`);
  if (path === STDIN) {
    if (!named) throw usageFailure('standard input needs --type, as in --type quotes');
    return [{ kind: named, file: path }];
  }
  const at = statSync(path, { throwIfNoEntry: false });
  if (!at) throw new CommandFailure(`no such file or folder: ${path}`);
  if (at.isDirectory() && named) throw usageFailure('--type is for a single file');
  if (!at.isDirectory()) {
    const kind = named ?? recordKinds.find((candidate) => fileName(candidate) === basename(path));
    if (!kind) throw usageFailure(`cannot import ${path}; expected one of ${names}, or --type`);
    return [{ kind, file: path }];
  }
  const files = recordKinds.flatMap((kind) => {
    const file = join(path, fileName(kind));
    const stats = statSync(file, { throwIfNoEntry: false });
    return stats && !stats.isDirectory() ? [{ kind, file }] : [];
  });
  if (files.length === 0) throw new CommandFailure(`nothing to import in ${path}; expected at least one of ${names}`);
  return files;
}
