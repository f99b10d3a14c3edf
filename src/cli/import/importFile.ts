import { isDuplicateKey } from '../../database/faults';
import type { OrganisationData } from '../../database/organisationData';
import type { Fault } from '../../errors';
import type { ImportRecord, RecordKind, StoredRecord } from '../../resources/common/records';
import { type Line, ndjsonLines } from './ndjsonLines';
import type { Progress } from '../common/progress';
import type { ReadRecord } from './readRecord';

/** Records per transaction: 500 took 12% less time than 200, and 1,000 took as long as 500. */
const MOST_RECORDS = 500;
/** Bytes of lines per batch, to bound memory with large records. */
const MOST_BYTES = 4 * 1024 * 1024;
/** Faults per batch: they are held until the batch is stored, so that they are reported in line order. */
const MOST_FAULTS = 1000;
const TRIES = 5;

/** Counts of a file's lines by outcome. */
export interface FileReport extends Record<StoredRecord['outcome'], number> {
  /** Non-blank lines. */
  read: number;
}

/** One fault in one line. */
export interface LineFault extends Fault {
  /** The file's path, as given by the caller. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
}

/** Where an import is stored, and where it reports. */
export interface ImportTarget {
  readonly data: OrganisationData;
  /** Called for every fault, in file and line order. */
  readonly onFault: (fault: LineFault) => void;
  readonly progress: Progress;
  /** Stops the import after the current batch. */
  readonly signal?: AbortSignal | undefined;
}

interface Batch {
  lines: number;
  /** Byte offset of its first line. */
  readonly start: number;
  /** Byte offset of the next line after it. */
  end: number;
  readonly records: { readonly line: number; readonly record: ImportRecord }[];
  readonly failures: { readonly line: number; readonly faults: readonly Fault[] }[];
}

/** Imports one file. The next batch is read while the previous one is stored. */
export async function importFile(
  kind: RecordKind,
  path: string,
  read: ReadRecord,
  target: ImportTarget,
): Promise<FileReport> {
  const report: FileReport = { read: 0, created: 0, updated: 0, unchanged: 0, failed: 0 };
  const take = batcher(read);
  let batch = emptyBatch(0);
  let storing: Promise<void> = Promise.resolve();
  const flush = async (): Promise<void> => {
    await storing;
    storing = finishBatch(kind, path, batch, report, target);
    // awaited by the next flush; a failure before that must not be an unhandled rejection
    storing.catch(() => undefined);
    batch = emptyBatch(batch.end);
  };
  for await (const line of ndjsonLines(path)) {
    if (target.signal?.aborted) break;
    take(batch, line);
    if (isFull(batch)) await flush();
  }
  if (!target.signal?.aborted) await flush();
  await storing;
  return report;
}

function emptyBatch(start: number): Batch {
  return { lines: 0, start, end: start, records: [], failures: [] };
}

function isFull({ records, failures, start, end }: Batch): boolean {
  return records.length >= MOST_RECORDS || failures.length >= MOST_FAULTS || end - start >= MOST_BYTES;
}

/** Adds lines to batches; a record with an id from an earlier line is a fault. */
function batcher(read: ReadRecord): (batch: Batch, line: Line) => void {
  const seen = new Map<string, number>();
  return (batch, { number: line, end, content }) => {
    const result = read(content);
    batch.lines += 1;
    batch.end = end;
    if ('faults' in result) {
      batch.failures.push({ line, faults: result.faults });
      return;
    }
    const { record } = result;
    const first = seen.get(record.id);
    if (first === undefined) {
      seen.set(record.id, line);
      batch.records.push({ line, record });
    } else {
      batch.failures.push({
        line,
        faults: [{ pointer: '/id', code: 'duplicate', detail: `is already on line ${String(first)}` }],
      });
    }
  };
}

async function finishBatch(
  kind: RecordKind,
  path: string,
  batch: Batch,
  report: FileReport,
  target: ImportTarget,
): Promise<void> {
  const failures = [...batch.failures];
  const stored = await storeBatch(
    kind,
    target.data,
    batch.records.map(({ record }) => record),
  );
  stored.forEach(({ outcome, errors: faults }, index) => {
    report[outcome] += 1;
    if (outcome === 'failed') failures.push({ line: batch.records[index]?.line ?? 0, faults });
  });
  report.read += batch.lines;
  report.failed += batch.failures.length;
  for (const { line, faults } of failures.toSorted((one, other) => one.line - other.line)) {
    for (const fault of faults) target.onFault({ ...fault, path, line });
  }
  target.progress.update(batch.end, report.read);
}

/** Stores a batch in one transaction; retries if another writer took a unique value in the meantime. */
async function storeBatch(
  kind: RecordKind,
  data: OrganisationData,
  records: readonly ImportRecord[],
): Promise<StoredRecord[]> {
  if (records.length === 0) return [];
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await data.transaction((session) => kind.store(data, records, session));
    } catch (error) {
      if (attempt === TRIES || !isDuplicateKey(error)) throw error;
    }
  }
}
