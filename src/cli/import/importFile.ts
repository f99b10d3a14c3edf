import { statSync } from 'node:fs';
import type { Fault } from '../../errors';
import type { StoredRecord } from '../../stored/records';
import { CommandFailure, isAbort } from '../ending';
import { type Line, ndjsonLines, STDIN } from '../ndjson';
import type { Progress } from '../progress';

/* Imports the lines of one file, whatever they are: records, keys or webhook endpoints. */

/** Records per transaction: 500 took 12% less time than 200, and 1,000 took as long as 500. */
export const MAX_RECORDS = 500;
/** Bytes of lines per batch, to bound memory with large records. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Invalid lines per batch: their faults are held until the batch is stored, so that all are reported in line order. */
const MAX_FAULTS = 1000;
/** Records of one file, whose ids are kept to find those that come twice: 1.4 GB. A Map takes 16.7 million. */
const MOST_RECORDS = 10_000_000;

/** How many of a file's lines had each outcome. */
export interface FileReport extends Record<StoredRecord['outcome'], number> {
  /** All lines that are not blank. */
  read: number;
  /** With --delete-missing: stored objects that the file does not have; `deleted` with --yes, otherwise `missing`, which were kept. */
  deleted?: number;
  missing?: number;
}

/** One fault in one line. */
export interface LineFault extends Fault {
  /** The file's path, as given by the caller. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
}

/** How an import of a file reports, and what stops it. */
export interface ImportReporter {
  /** Called for every fault, in file and line order. */
  readonly onFault: (fault: LineFault) => void;
  readonly progress: Progress;
  /** Stops the import after the current batch. */
  readonly signal?: AbortSignal | undefined;
}

/** How to read and store the lines of a file. */
interface FileKind<Row> {
  /** Shown on the progress bar. */
  readonly name: string;
  /** How many lines come before the first record. */
  readonly linesToSkip?: number;
  readonly read: (content: Line['content']) => { readonly record: Row } | { readonly faults: readonly Fault[] };
  /** Resolves with what became of each record, in their order. */
  readonly store: (records: readonly Row[]) => Promise<StoredRecord[]>;
  /** Ids of stored objects: those of valid records are removed, and what is left at the end is missing in the file. */
  readonly missing?: Set<string> | undefined;
  /** In place of {@link MOST_RECORDS}, for tests. */
  readonly most?: number;
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
 * @throws CommandFailure at the first record beyond {@link MOST_RECORDS}; those before it are stored
 */
export async function importFile<Row extends { readonly id: string }>(
  path: string,
  { name, store, ...kind }: FileKind<Row>,
  { onFault, progress, signal }: ImportReporter,
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
    // nothing is stored any more once this has rejected
    await storing;
    if (!signal?.aborted || !isAbort(error)) throw error;
  } finally {
    progress.stop();
  }
  return report;
}

/** The lines of a file in batches, at least one, in order. An id that was on a line before is a failure. */
async function* batchesOf<Row extends { readonly id: string }>(
  path: string,
  { linesToSkip = 0, read, missing, most = MOST_RECORDS }: Omit<FileKind<Row>, 'name' | 'store'>,
  signal?: AbortSignal,
): AsyncGenerator<Batch<Row>> {
  const firstLines = new Map<string, number>();
  const begin = (start: number): Batch<Row> => ({ lines: 0, start, end: start, records: [], failures: [] });
  let toSkip = linesToSkip;
  let batch = begin(0);
  for await (const { number: line, end, content } of ndjsonLines(path, signal)) {
    toSkip -= 1;
    if (toSkip >= 0) continue;
    batch.lines += 1;
    batch.end = end;
    const result = read(content);
    const first = 'record' in result ? firstLines.get(result.record.id) : undefined;
    if ('faults' in result) batch.failures.push({ line, faults: result.faults });
    else if (first === undefined) {
      if (firstLines.size === most) {
        yield batch;
        throw tooMany(path, line, most);
      }
      firstLines.set(result.record.id, line);
      missing?.delete(result.record.id);
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

const tooMany = (path: string, line: number, most: number): CommandFailure =>
  new CommandFailure(
    `${path}: line ${String(line)} is beyond ${most.toLocaleString('en')} records, the most in one file; the lines before it are stored: split the file and import the rest`,
  );
