import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Organisation } from '../../access/principal';
import type { OrganisationData } from '../../database/organisationData';
import { publishedSchemas } from '../../published';
import { recordKinds } from '../../resources';
import type { RecordKind } from '../../resources/common/records';
import { SCHEMA_ROOT } from '../../schema/jsonSchema';
import { CommandFailure, EXIT } from '../common/failure';
import { createProgress } from '../common/progress';
import { interruption } from '../common/signals';
import { print, printJson, printTable } from '../common/terminal';
import { requireOrganisation, withStore } from '../common/withStore';
import { fileName, recordName, recordSchemas } from '../records/schemas';
import { recordWriter, type Write } from '../records/writer';
import type { ExportOptions } from './index';

const ORGANISATION_FILE = 'organisation.json';
/** Records per write to the file. */
const CHUNK = 200;

/** `scopegate export`. */
export async function exportCommand(folder: string, { org, force = false, json }: ExportOptions): Promise<void> {
  const signal = interruption();
  const files = await withStore(async (store) => {
    const organisation = await requireOrganisation(store, org);
    const data = await store.databases.open(organisation);
    return exportFolder({ organisation, data, folder, force, signal });
  }, signal);
  if (json) {
    printJson({ dir: folder, files });
    return;
  }
  printTable(
    ['FILE', 'RECORDS'],
    Object.entries(files).map(([file, count]) => [file, String(count)]),
  );
  print(`\nWritten to ${folder}. To load it elsewhere: scopegate import --org ID ${folder}`);
}

interface Export {
  readonly organisation: Organisation;
  readonly data: OrganisationData;
  readonly folder: string;
  /** Whether existing files may be overwritten. */
  readonly force: boolean;
  readonly signal: AbortSignal;
}

/**
 * Writes every file of an organisation, and puts them in place only when all are complete. Resolves with the number of
 * records in each file.
 * @throws CommandFailure if it was interrupted, or if the files exist and `force` is not set.
 */
async function exportFolder(options: Export): Promise<Record<string, number>> {
  const { folder, organisation, force } = options;
  await mkdir(folder, { recursive: true });
  const names = [...recordKinds.map(fileName), ORGANISATION_FILE];
  if (!force) await refuseExisting(folder, names);
  const suffix = `.${randomUUID()}.part`;
  const draft = (name: string): string => join(folder, `.${name}${suffix}`);
  const schemas = recordSchemas(publishedSchemas().rest, recordKinds);
  const counts: Record<string, number> = {};
  try {
    for (const kind of recordKinds) {
      const write = recordWriter(schemas, { $ref: SCHEMA_ROOT + recordName(kind) }, kind.decimals);
      counts[kind.file] = await writeRecords(kind, draft(fileName(kind)), write, options);
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

async function writeRecords(kind: RecordKind, path: string, write: Write, { data, signal }: Export): Promise<number> {
  const progress = createProgress();
  progress.start(kind.file, await kind.count(data));
  const file = await open(path, 'wx');
  try {
    let [count, lines] = [0, [] as string[]];
    const flush = async (): Promise<void> => {
      await file.appendFile(lines.join(''));
      progress.update(count, count);
      lines = [];
      if (signal.aborted) throw new CommandFailure('interrupted; nothing was written', EXIT.interrupted);
    };
    for await (const record of kind.read(data)) {
      lines.push(`${write(record)}\n`);
      count += 1;
      if (lines.length === CHUNK) await flush();
    }
    await flush();
    return count;
  } finally {
    progress.stop();
    await file.close();
  }
}

/** One object, formatted like the example files. */
function writeMembers(members: Readonly<Record<string, string>>): string {
  return `{${Object.entries(members)
    .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
    .join(', ')}}`;
}
