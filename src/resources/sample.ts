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

export interface Loaded {
  /** Records that were stored, or found as they are. */
  readonly stored: number;
  /** Records whose unique value something else has. */
  readonly refused: number;
}

/** Stores the sample's records. Interrupted, it is completed by doing it again. */
export async function storeSample(data: OrganisationData, { signal, onProgress }: Loading = {}): Promise<Loaded> {
  const files = await Promise.all(
    recordKinds.map(async (kind) => ({ kind, lines: await linesOf(`${kind.file}.ndjson`) })),
  );
  const all = files.reduce((sum, { lines }) => sum + lines.length, 0);
  let [stored, refused] = [0, 0];
  for (const { kind, lines } of files) {
    for (let from = 0; from < lines.length; from += AT_ONCE) {
      signal?.throwIfAborted();
      const records = lines.slice(from, from + AT_ONCE).map((line) => JSON.parse(line) as ImportRecord);
      for (const { outcome } of await storeRecords(kind, data, records)) {
        if (outcome === 'failed') refused += 1;
        else stored += 1;
      }
      onProgress?.(stored + refused, all);
    }
  }
  return { stored, refused };
}

/** Whether an organisation has as many records of each kind as the sample. */
export async function hasSample(data: OrganisationData): Promise<boolean> {
  for (const kind of recordKinds)
    if ((await kind.count(data)) < (await linesOf(`${kind.file}.ndjson`)).length) return false;
  return true;
}

export async function linesOf(file: string): Promise<string[]> {
  return (await readFile(join(SAMPLE, file), 'utf8')).trimEnd().split('\n');
}
