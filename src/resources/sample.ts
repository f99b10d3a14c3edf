import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OrganisationData } from '../database/organisationData';
import { ROOT } from '../package';
import { type ImportRecord, storeRecords } from '../stored/records';
import { recordKinds } from './index';

/* The sample in examples/northwind. Its lines are stored as they are, since tests check them as an import does. */

export const SAMPLE = join(ROOT, 'examples', 'northwind');

/** Records in a transaction: between two, whatever waits for the event loop has its turn. */
const AT_ONCE = 100;

interface Loading {
  readonly signal?: AbortSignal | undefined;
  /** Called with how many records were stored, of how many. */
  readonly onProgress?: ((done: number, all: number) => void) | undefined;
}

/**
 * Stores the sample's records that are not there. Resolves with how many lines it stored or found unchanged; interrupted, it is completed by
 * doing it again.
 */
export async function storeSample(data: OrganisationData, { signal, onProgress }: Loading = {}): Promise<number> {
  const files = await Promise.all(
    recordKinds.map(async (kind) => ({ kind, lines: await linesOf(`${kind.file}.ndjson`) })),
  );
  const all = files.reduce((sum, { lines }) => sum + lines.length, 0);
  let [seen, stored] = [0, 0];
  for (const { kind, lines } of files) {
    const isComplete = (await kind.count(data)) >= lines.length;
    for (let from = 0; from < lines.length && !isComplete; from += AT_ONCE) {
      signal?.throwIfAborted();
      const records = lines.slice(from, from + AT_ONCE).map((line) => JSON.parse(line) as ImportRecord);
      await storeRecords(kind, data, records);
      stored += records.length;
      onProgress?.(seen + from + records.length, all);
    }
    seen += lines.length;
  }
  return stored;
}

export async function linesOf(file: string): Promise<string[]> {
  return (await readFile(join(SAMPLE, file), 'utf8')).trimEnd().split('\n');
}
