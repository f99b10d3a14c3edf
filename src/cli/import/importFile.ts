import { isDuplicateKey } from '../../database/faults';
import { stampedWrite } from '../../database/openWrites';
import type { OrganisationData } from '../../database/organisationData';
import type { Fault } from '../../errors';
import type { ImportRecord, RecordKind, StoredRecord } from '../../stored/records';
import { ndjsonLines } from './ndjsonLines';
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

/** Consecutive lines of a file, some of which are records. */
interface Batch {
  lines: number;
  /** Byte offset of its first line. */
  readonly start: number;
  /** Byte offset of the next line after it. */
  end: number;
  readonly records: { readonly line: number; readonly record: ImportRecord }[];
  readonly failures: { readonly line: number; readonly faults: readonly Fault[] }[];
}

const emptyBatch = (start: number): Batch => ({ lines: 0, start, end: start, records: [], failures: [] });

function isFull({ records, failures, start, end }: Batch): boolean {
  return records.length >= MOST_RECORDS || failures.length >= MOST_FAULTS || end - start >= MOST_BYTES;
}

/** Imports one file. The next batch is read while the previous one is stored. */
export async function importFile(
  kind: RecordKind,
  path: string,
  read: ReadRecord,
  { data, onFault, progress, signal }: ImportTarget,
): Promise<FileReport> {
  const report: FileReport = { read: 0, created: 0, updated: 0, unchanged: 0, failed: 0 };
  const firstLines = new Map<string, number>();
  let batch = emptyBatch(0);
  let storing: Promise<void> = Promise.resolve();

  async function finish({ lines, end, records, failures }: Batch): Promise<void> {
    report.failed += failures.length;
    const stored = await store(
      kind,
      data,
      records.map(({ record }) => record),
    );
    stored.forEach(({ outcome, errors: faults }, index) => {
      report[outcome] += 1;
      if (outcome === 'failed') failures.push({ line: records[index]?.line ?? 0, faults });
    });
    report.read += lines;
    for (const { line, faults } of failures.toSorted((one, other) => one.line - other.line)) {
      for (const fault of faults) onFault({ ...fault, path, line });
    }
    progress.update(end, report.read);
  }

  async function flush(): Promise<void> {
    await storing;
    storing = finish(batch);
    // awaited by the next flush; a failure before that must not be an unhandled rejection
    storing.catch(() => undefined);
    batch = emptyBatch(batch.end);
  }

  for await (const { number: line, end, content } of ndjsonLines(path)) {
    if (signal?.aborted) break;
    batch.lines += 1;
    batch.end = end;
    const result = read(content);
    const first = 'record' in result ? firstLines.get(result.record.id) : undefined;
    if ('faults' in result) batch.failures.push({ line, faults: result.faults });
    else if (first === undefined) {
      firstLines.set(result.record.id, line);
      batch.records.push({ line, record: result.record });
    } else {
      const detail = `is already on line ${String(first)}`;
      batch.failures.push({ line, faults: [{ pointer: '/id', code: 'duplicate', detail }] });
    }
    if (isFull(batch)) await flush();
  }
  if (!signal?.aborted) await flush();
  await storing;
  return report;
}

/** Stores records in one transaction; retries if another writer took a unique value in the meantime. */
async function store(
  kind: RecordKind,
  data: OrganisationData,
  records: readonly ImportRecord[],
): Promise<StoredRecord[]> {
  if (records.length === 0) return [];
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await stampedWrite(data, (session) => kind.store(data, records, session), { writes: kind.writes });
    } catch (error) {
      if (attempt === TRIES || !isDuplicateKey(error)) throw error;
    }
  }
}
