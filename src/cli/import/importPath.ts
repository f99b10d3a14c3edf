import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { OrganisationData } from '../../tenant/organisationData';
import { recordKinds } from '../../resources';
import { published } from '../../schema/model';
import { ERASED_AT } from '../../schema/personal';
import { hasAttachments } from '../../schema/storedTypes';
import { stampedWrite } from '../../tenant/openWrites';
import type { Writer } from '../../tenant/slots';
import type { ImportRecord, RecordKind, Stamp, StoredRecord } from '../../stored/records';
import { CommandFailure, usageFailure } from '../ending';
import { storeWithFiles } from './attachments';
import { STDIN } from '../ndjson';
import { fileName, recordReaders } from '../records';
import { type FileReport, importFile, type ImportReporter, MAX_RECORDS } from './importFile';

const BY = 'operator' satisfies Writer;
/** Objects that are deleted with their files in one transaction: each may have 800 chunks. */
const MAX_WITH_FILES = 20;

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
  /** What to do with stored objects that a file does not have, once it was stored whole and is not empty; by default, nothing. */
  readonly missing?: 'delete' | 'count' | undefined;
}

/**
 * Imports NDJSON records, in the order of the resources. Valid lines are stored in batches; invalid ones are reported and
 * skipped. Records replace what is stored under their ids, or leave it if it is equal, so running an interrupted import again completes it.
 * @throws CommandFailure if there is nothing to import at the path.
 */
export async function importPath(options: ImportPathOptions): Promise<Record<string, FileReport>> {
  const { path, type, stamp, missing, organisation, data, ...reporter } = options;
  const files = findFiles(path, type);
  const reader = recordReaders(recordKinds, organisation);
  const reports: Record<string, FileReport> = {};
  for (const { kind, file } of files) {
    if (reporter.signal?.aborted) break;
    const store = (records: readonly ImportRecord[]): Promise<StoredRecord[]> =>
      storeWithFiles(kind, data, records, { folder: folderOf(path), stamp, by: BY });
    const ids = new Set<string>();
    const began = new Date(data.now());
    const report = await importFile(file, { name: kind.file, read: reader(kind), store, ids }, reporter);
    reports[kind.file] = report;
    const isWhole = report.failed === 0 && report.read > 0 && !reporter.signal?.aborted;
    if (missing && isWhole) {
      const gone = await findMissing(data, kind, { ids, began });
      if (missing === 'delete') await deleteAll(data, kind, gone);
      report[missing === 'delete' ? 'deleted' : 'missing'] = gone.length;
    }
  }
  return reports;
}

/**
 * The ids of the objects that a file does not have, other than those created since the import began, and than erased customers: without their
 * rows, nothing would refuse that they are written again.
 */
async function findMissing(
  data: OrganisationData,
  kind: RecordKind,
  { ids, began }: { readonly ids: ReadonlySet<string>; readonly began: Date },
): Promise<string[]> {
  const [resource] = kind.writes;
  const missing: string[] = [];
  if (!resource) return missing;
  const before = { created_at: { $lt: began }, [ERASED_AT]: null } as object;
  for await (const { _id } of data.collection(resource).find(before, { projection: { _id: 1 } }))
    if (!ids.has(_id)) missing.push(_id);
  return missing;
}

async function deleteAll(data: OrganisationData, kind: RecordKind, ids: readonly string[]): Promise<void> {
  const most = hasAttachments(published.stored.get(kind.type)) ? MAX_WITH_FILES : MAX_RECORDS;
  for (let at = 0; at < ids.length; at += most) {
    const batch = ids.slice(at, at + most);
    await stampedWrite(data, (session) => kind.remove(data, batch, session), {
      writes: kind.writes,
      rows: 0,
      by: BY,
    });
  }
}

/** The folder beside whose files attachments are; undefined for standard input. */
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
