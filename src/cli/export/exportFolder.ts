import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Organisation } from '../../access/principal';
import type { OrganisationData } from '../../database/organisationData';
import { SCHEMA_ROOT } from '../../schema/jsonSchema';
import { recordKinds } from '../../resources';
import type { RecordKind } from '../../resources/common/records';
import { publishedSchemas } from '../../published';
import { CommandFailure } from '../common/failure';
import { fileName } from '../import/findFiles';
import type { Progress } from '../common/progress';
import { recordName, recordSchemas } from '../records/schemas';
import { recordWriter, type Write } from '../records/writer';

export interface ExportOptions {
  readonly organisation: Organisation;
  readonly data: OrganisationData;
  readonly folder: string;
  /** Whether existing files may be overwritten. */
  readonly force: boolean;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
}

const ORGANISATION_FILE = 'organisation.json';
/** Records per write to the file. */
const CHUNK = 200;

/**
 * Writes every file of an organisation, and puts them in place only when all are complete. Resolves with the number of
 * records in each file, or undefined if interrupted.
 * @throws CommandFailure if the files exist and `force` is not set.
 */
export async function exportFolder(options: ExportOptions): Promise<Record<string, number> | undefined> {
  const { folder, organisation, progress, signal } = options;
  await mkdir(folder, { recursive: true });
  const names = [...recordKinds.map(fileName), ORGANISATION_FILE];
  if (!options.force) await refuseExisting(folder, names);
  const suffix = `.${randomUUID()}.part`;
  const draft = (name: string): string => join(folder, `.${name}${suffix}`);
  const writers = recordWriters();
  const counts: Record<string, number> = {};
  try {
    for (const kind of recordKinds) {
      progress.start(kind.file, await kind.count(options.data));
      counts[kind.file] = await writeRecords(kind, draft(fileName(kind)), writers(kind), options).finally(() => {
        progress.stop();
      });
      if (signal?.aborted) return undefined;
    }
    const { name, plan, currency } = organisation;
    await writeFile(draft(ORGANISATION_FILE), writeMembers({ name, plan, currency }));
    for (const file of names) await rename(draft(file), join(folder, file));
    return counts;
  } finally {
    for (const file of names) await rm(draft(file), { force: true });
  }
}

async function refuseExisting(folder: string, names: readonly string[]): Promise<void> {
  const there = (await readdir(folder)).filter((file) => names.includes(file));
  if (there.length === 0) return;
  throw new CommandFailure(
    `${folder} already has ${there.join(', ')}; use another folder, or add --force to overwrite them`,
  );
}

function recordWriters(): (kind: RecordKind) => Write {
  const schemas = recordSchemas(publishedSchemas().rest, recordKinds);
  return (kind) => recordWriter(schemas, { $ref: SCHEMA_ROOT + recordName(kind) }, kind.decimals);
}

async function writeRecords(
  kind: RecordKind,
  path: string,
  write: Write,
  { data, progress, signal }: ExportOptions,
): Promise<number> {
  const file = await open(path, 'wx');
  try {
    let [count, lines] = [0, [] as string[]];
    for await (const record of kind.read(data)) {
      lines.push(`${write(record)}\n`);
      count += 1;
      if (lines.length < CHUNK) continue;
      await file.appendFile(lines.join(''));
      progress.update(count, count);
      lines = [];
      if (signal?.aborted) return count;
    }
    await file.appendFile(lines.join(''));
    progress.update(count, count);
    return count;
  } finally {
    await file.close();
  }
}

/** One object, formatted like the example files. */
function writeMembers(members: Readonly<Record<string, string>>): string {
  return `{${Object.entries(members)
    .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
    .join(', ')}}`;
}
