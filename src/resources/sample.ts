import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { OrganisationData } from '../tenant/organisationData';
import type { Writer } from '../tenant/slots';
import { ROOT } from '../package';
import { exampleFile } from '../sdl/files';
import { ownFolder } from '../sdl/folder';
import { type ImportRecord, type RecordKind, storeRecords } from '../stored/records';
import { referencesOf } from '../stored/referenceFaults';
import { collections, recordKinds, resourceOf } from './index';

/*
 * The sample in examples/northwind, and the examples of types of the user's own folder (SCHEMA_DIR). They are stored without the checks of an import,
 * since tests make these; but records of Northwind that rules of the user's folder refuse are left out, with the records of Northwind that refer to
 * them. The folder's own examples are stored as they are, even if they refer to one of those. All get the time of storing as `updated_at`, since
 * somebody may have followed the rows that a reset of the sandbox deleted.
 */

export const SAMPLE = join(ROOT, 'examples', 'northwind');

/** Records per transaction: between transactions, other work on the event loop gets its turn. */
const AT_ONCE = 100;

interface Loading {
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of records handled so far, and of all records. */
  readonly onProgress?: ((done: number, all: number) => void) | undefined;
  /** Only the records of types that have none. */
  readonly onlyEmpty?: boolean | undefined;
}

export interface Loaded {
  /** Records that were stored, or were already stored unchanged. */
  readonly stored: number;
  /** Records that failed, usually because another record has their unique value. */
  readonly refused: number;
}

/** Stores the sample's records. If it was interrupted, run it again to complete it. */
export async function storeSample(
  data: OrganisationData,
  by: Writer,
  { signal, onProgress, onlyEmpty = false }: Loading = {},
): Promise<Loaded> {
  const files: SampleFile[] = [];
  for (const file of await sampleFiles())
    if (file.records.length > 0 && !(onlyEmpty && (await file.kind.count(data)) > 0)) files.push(file);
  const all = files.reduce((sum, { records }) => sum + records.length, 0);
  let handled = 0;
  let stored = 0;
  let refused = 0;
  for (const { kind, records } of files) {
    for (let from = 0; from < records.length; from += AT_ONCE) {
      signal?.throwIfAborted();
      const some = records.slice(from, from + AT_ONCE);
      for (const { outcome } of await storeRecords(kind, data, some, { by, stamp: 'now' })) {
        if (outcome === 'failed') refused += 1;
        else stored += 1;
      }
      handled += some.length;
      onProgress?.(handled, all);
    }
  }
  return { stored, refused };
}

interface SampleFile {
  readonly kind: RecordKind;
  readonly records: readonly ImportRecord[];
}

/** The records of the sample, without those of Northwind that rules of the user's folder refuse or that refer to one of these. */
async function sampleFiles(): Promise<SampleFile[]> {
  const refused = new Set<unknown>();
  const files: SampleFile[] = [];
  for (const kind of recordKinds) {
    const references = referencesOf(resourceOf(kind.file), collections);
    const isRuled = ownFolder() !== undefined && existsSync(join(SAMPLE, `${kind.file}.ndjson`));
    const records = (await linesOf(`${kind.file}.ndjson`)).map((text) => JSON.parse(text) as ImportRecord);
    const isRefused = (record: ImportRecord): boolean =>
      references.some(({ member }) => refused.has(record[member])) || kind.rules(record).length > 0;
    for (const record of records) if (isRuled && isRefused(record)) refused.add(record.id);
    files.push({ kind, records: records.filter(({ id }) => !refused.has(id)) });
  }
  return files;
}

/** The lines of a file of the sample; for a type of the user's own its example as the only line; none if there is neither. */
export async function linesOf(file: string): Promise<string[]> {
  const path = join(SAMPLE, file);
  if (existsSync(path)) return (await readFile(path, 'utf8')).trimEnd().split('\n');
  const example = await readFile(exampleFile(basename(file, '.ndjson')), 'utf8').catch(() => undefined);
  return example === undefined ? [] : [JSON.stringify(JSON.parse(example))];
}
