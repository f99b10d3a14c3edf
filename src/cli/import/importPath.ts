import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { OrganisationData } from '../../tenant/organisationData';
import type { Fault } from '../../errors';
import { recordKinds } from '../../resources';
import { published } from '../../schema/model';
import { ERASED_AT } from '../../schema/personal';
import { hasAttachments } from '../../schema/storedTypes';
import { stampedWrite } from '../../tenant/openWrites';
import type { ImportRecord, RecordKind, Stamp, StoredRecord } from '../../stored/records';
import { CommandFailure, isAbort, usageFailure } from '../ending';
import type { Progress } from '../progress';
import { storeWithFiles } from './attachments';
import { fileName, type Line, ndjsonLines, recordReaders } from '../records';

/** Records per transaction: 500 took 12% less time than 200, and 1,000 took as long as 500. */
const MAX_RECORDS = 500;
/** Objects that are deleted with their files in one transaction: each may have 800 chunks. */
const MAX_WITH_FILES = 20;
/** Bytes of lines per batch, to bound memory with large records. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Invalid lines per batch: their faults are held until the batch is stored, so that all are reported in line order. */
const MAX_FAULTS = 1000;

/** How many of a file's lines had each outcome. */
export interface FileReport extends Record<StoredRecord['outcome'], number> {
  /** All lines that are not blank. */
  read: number;
  /** With --delete-missing: stored objects that the file does not have; `deleted` with --yes, otherwise `missing`, which were kept. */
  deleted?: number;
  missing?: number;
}

/** Standard input, as a path. */
export const STDIN = '-';

/** One fault in one line. */
export interface LineFault extends Fault {
  /** The file's path, as given by the caller. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
}

/** Where an import is stored, and how it reports. */
export interface ImportTarget {
  readonly data: OrganisationData;
  /** Called for every fault, in file and line order. */
  readonly onFault: (fault: LineFault) => void;
  readonly progress: Progress;
  /** Stops the import after the current batch. */
  readonly signal?: AbortSignal | undefined;
}

interface ImportPathOptions extends ImportTarget {
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
  const { path, type, stamp, missing, organisation, ...target } = options;
  const files = findFiles(path, type);
  const reader = recordReaders(recordKinds, organisation);
  const reports: Record<string, FileReport> = {};
  for (const { kind, file } of files) {
    if (target.signal?.aborted) break;
    const store = (records: readonly ImportRecord[]): Promise<StoredRecord[]> =>
      storeWithFiles(kind, target.data, records, { folder: folderOf(path), stamp });
    const ids = new Set<string>();
    const began = new Date(target.data.now());
    const report = await importFile(file, { name: kind.file, read: reader(kind), store, ids }, target);
    reports[kind.file] = report;
    const isWhole = report.failed === 0 && report.read > 0 && !target.signal?.aborted;
    if (missing && isWhole) {
      const gone = await findMissing(target.data, kind, { ids, began });
      if (missing === 'delete') await deleteAll(target.data, kind, gone);
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
      by: 'operator',
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

/** How to read and store the lines of a file. */
interface FileKind<Row> {
  /** Shown on the progress bar. */
  readonly name: string;
  /** How many lines come before the first record. */
  readonly linesToSkip?: number;
  readonly read: (content: Line['content']) => { readonly record: Row } | { readonly faults: readonly Fault[] };
  readonly store: (records: readonly Row[]) => Promise<StoredRecord[]>;
  /** The ids of all valid records are added to it. */
  readonly ids?: Set<string>;
}

/** Consecutive lines of a file: valid records and failures. */
interface Batch<Row> {
  lines: number;
  /** Byte offset of its first line. */
  readonly start: number;
  /** Byte offset of the line after its last one. */
  end: number;
  readonly records: { readonly line: number; readonly record: Row }[];
  readonly failures: { readonly line: number; readonly faults: readonly Fault[] }[];
}

/**
 * Imports one file. The next batch is read while the previous one is stored. If the signal aborts, resolves with the report of what was stored
 * until then.
 */
export async function importFile<Row extends { readonly id: string }>(
  path: string,
  { name, store, ...kind }: FileKind<Row>,
  { onFault, progress, signal }: Omit<ImportTarget, 'data'>,
): Promise<FileReport> {
  const report: FileReport = { read: 0, created: 0, updated: 0, unchanged: 0, failed: 0 };
  let storing: Promise<void> = Promise.resolve();

  async function storeBatch({ lines, end, records, failures }: Batch<Row>): Promise<void> {
    report.failed += failures.length;
    const stored = records.length === 0 ? [] : await store(records.map(({ record }) => record));
    stored.forEach(({ outcome, errors: faults }, index) => {
      report[outcome] += 1;
      if (outcome === 'failed') failures.push({ line: records[index]?.line ?? 0, faults });
    });
    report.read += lines;
    for (const { line, faults } of failures.toSorted((left, right) => left.line - right.line)) {
      for (const fault of faults) onFault({ ...fault, path, line });
    }
    progress.update(size === undefined ? 0 : end, report.read);
  }

  // unknown of standard input, whose bar stays at 0% and counts
  const size = path === STDIN ? undefined : statSync(path).size;
  progress.start(name, size ?? 1);
  try {
    for await (const batch of batchesOf(path, kind, signal)) {
      await storing;
      if (signal?.aborted) break;
      storing = storeBatch(batch);
      // awaited with the next batch; a failure before that must not be an unhandled rejection
      storing.catch(() => undefined);
    }
    await storing;
  } catch (error) {
    if (!signal?.aborted || !isAbort(error)) throw error;
    await storing;
  } finally {
    progress.stop();
  }
  return report;
}

/** The lines of a file in batches, at least one, in order. An id that was on a line before is a failure. */
async function* batchesOf<Row extends { readonly id: string }>(
  path: string,
  { linesToSkip = 0, read, ids }: Pick<FileKind<Row>, 'linesToSkip' | 'read' | 'ids'>,
  signal?: AbortSignal,
): AsyncGenerator<Batch<Row>> {
  const firstLines = new Map<string, number>();
  const begin = (start: number): Batch<Row> => ({ lines: 0, start, end: start, records: [], failures: [] });
  let [toSkip, batch] = [linesToSkip, begin(0)];
  for await (const { number: line, end, content } of ndjsonLines(path, signal)) {
    toSkip -= 1;
    if (toSkip >= 0) continue;
    batch.lines += 1;
    batch.end = end;
    const result = read(content);
    const first = 'record' in result ? firstLines.get(result.record.id) : undefined;
    if ('faults' in result) batch.failures.push({ line, faults: result.faults });
    else if (first === undefined) {
      firstLines.set(result.record.id, line);
      ids?.add(result.record.id);
      batch.records.push({ line, record: result.record });
    } else {
      const detail = `is already on line ${String(first)}`;
      batch.failures.push({ line, faults: [{ pointer: '/id', code: 'duplicate', detail }] });
    }
    const { records, failures, start } = batch;
    if (records.length < MAX_RECORDS && failures.length < MAX_FAULTS && end - start < MAX_BYTES) continue;
    yield batch;
    batch = begin(end);
  }
  yield batch;
}
