import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Organisation } from '../../src/auth/principal';
import { importPath } from '../../src/cli/import/importPath';
import type { Json } from './client';
import type { TestGateway } from './gateway';

/** Imports records, by their files, into an organisation. Resolves with the faults of their lines. */
export async function faultsOfImport(
  { databases }: Pick<TestGateway, 'databases'>,
  into: Organisation,
  files: Readonly<Record<string, readonly object[]>>,
): Promise<Json[]> {
  const folder = await mkdtemp(join(tmpdir(), 'scopegate-import-'));
  for (const [file, rows] of Object.entries(files))
    await writeFile(join(folder, `${file}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const faults: Json[] = [];
  await importPath({
    data: databases.organisationData(into),
    path: folder,
    onFault: (fault) => faults.push(fault),
    progress: { start: () => undefined, update: () => undefined, stop: () => undefined },
    signal: new AbortController().signal,
  });
  await rm(folder, { recursive: true });
  return faults;
}
