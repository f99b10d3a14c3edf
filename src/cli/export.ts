import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiKey } from '../auth/keys';
import type { Organisation } from '../auth/principal';
import type { OrganisationData } from '../database/organisationData';
import { toKeyRecord } from '../organisations/keyRecords';
import type { Fingerprint } from '../organisations/pepper';
import { publishedSchemas } from '../published';
import { recordKinds } from '../resources';
import type { ImportRecord, RecordKind } from '../stored/records';
import { SCHEMA_ROOT } from '../schema/jsonSchema';
import { CommandFailure, interrupted } from './common/failure';
import type { OrgOption } from './common/help';
import { createProgress } from './common/progress';
import { interruption } from './common/signals';
import { print, printJson, printTable } from './common/terminal';
import { requireOrganisation, withStore } from './common/withStore';
import {
  fileName,
  KEYS_FILE,
  ORGANISATION_FILE,
  recordName,
  recordSchemas,
  recordWriter,
  type Write,
} from './records/schemas';

/** Records per write to the file. */
const CHUNK = 200;
/** Objects that are named if they cannot be written. */
const MOST_NAMED = 100;

interface ExportOptions extends OrgOption {
  readonly force?: boolean;
  readonly keys?: true;
}

/** `scopegate export`. */
export async function exportCommand(folder: string, { org, keys, force = false, json }: ExportOptions): Promise<void> {
  const signal = interruption();
  const files = await withStore(async (store) => {
    const { control, databases } = store;
    const organisation = await requireOrganisation(store, org);
    const data = await databases.open(organisation);
    const withKeys = keys && { pepper: await control.pepper.fingerprint(), each: () => control.apiKeys.each(org) };
    return exportFolder({ organisation, data, folder, force, signal, keys: withKeys });
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
  /** The organisation's keys and the fingerprint of their pepper, if they are wanted. */
  readonly keys: { readonly pepper: Fingerprint; readonly each: () => AsyncIterable<ApiKey> } | undefined;
  readonly signal: AbortSignal;
}

/** Personal data are for their owner only. */
const OWNER_ONLY = { folder: 0o700, file: 0o600 } as const;

const namesOf = ({ keys }: Pick<Export, 'keys'>): string[] => [
  ...[...recordKinds.map(fileName), ...(keys ? [KEYS_FILE] : []), ORGANISATION_FILE],
];

/**
 * Makes the folder of an export, and tries whether files can be written there.
 * @throws CommandFailure if not, or if the files exist and `force` is not set.
 */
export async function prepareFolder(options: Pick<Export, 'folder' | 'force' | 'keys'>): Promise<void> {
  const { folder, force } = options;
  const probe = join(folder, `.${randomUUID()}.part`);
  try {
    await mkdir(folder, { recursive: true, mode: OWNER_ONLY.folder });
    await writeFile(probe, '', { mode: OWNER_ONLY.file });
    await rm(probe);
  } catch (error) {
    throw new CommandFailure(`cannot write to ${folder} (${(error as Error).message}); give another folder`);
  }
  if (!force) await refuseExisting(folder, namesOf(options));
}

/**
 * Writes every file of an organisation, and puts them in place only when all are complete. Resolves with the number of
 * records in each file.
 * @throws CommandFailure if it was interrupted, or as prepareFolder does.
 */
export async function exportFolder(options: Export): Promise<Record<string, number>> {
  const { folder, organisation, keys } = options;
  await prepareFolder(options);
  const names = namesOf(options);
  const suffix = `.${randomUUID()}.part`;
  const draft = (name: string): string => join(folder, `.${name}${suffix}`);
  const schemas = recordSchemas(publishedSchemas().rest, recordKinds);
  const counts: Record<string, number> = {};
  try {
    for (const kind of recordKinds) {
      const write = recordWriter(schemas, { $ref: SCHEMA_ROOT + recordName(kind) }, kind.decimals);
      counts[kind.file] = await writeRecords(kind, draft(fileName(kind)), write, options);
    }
    if (keys) counts.keys = await writeKeys(draft(KEYS_FILE), keys, options.signal);
    const { name, plan, currency } = organisation;
    await writeFile(draft(ORGANISATION_FILE), writeMembers({ name, plan, currency }), { mode: OWNER_ONLY.file });
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
  const file = await open(path, 'wx', OWNER_ONLY.file);
  try {
    return await writeLines(file, whole(kind, data), write, signal, (count) => {
      progress.update(count, count);
    });
  } finally {
    progress.stop();
    await file.close();
  }
}

/** The records of a kind. @throws CommandFailure at the end if some have numbers that JSON would turn into null */
async function* whole({ file, read, brokenNumber }: RecordKind, data: OrganisationData): AsyncGenerator<ImportRecord> {
  const broken: string[] = [];
  let count = 0;
  for await (const record of read(data)) {
    const fault = brokenNumber?.(record);
    if (!fault) {
      yield record;
      continue;
    }
    count += 1;
    if (count <= MOST_NAMED) broken.push(`  ${record.id}: ${String(fault.pointer)} ${fault.detail}`);
  }
  if (count === 0) return;
  if (count > MOST_NAMED) broken.push(`  and ${String(count - MOST_NAMED)} more`);
  throw new CommandFailure(
    [
      `nothing was written: these ${file} have numbers that no file can hold; correct them in the database`,
      ...broken,
    ].join('\n'),
  );
}

/** The fingerprint of the pepper, then one key per line. */
async function writeKeys(path: string, { pepper, each }: NonNullable<Export['keys']>, signal: AbortSignal) {
  const file = await open(path, 'wx', OWNER_ONLY.file);
  try {
    const { salt, hash, number } = pepper;
    await file.appendFile(`${JSON.stringify({ pepper: { salt, hash, number } })}\n`);
    return await writeLines(file, each(), (key) => JSON.stringify(toKeyRecord(key)), signal);
  } finally {
    await file.close();
  }
}

/** Writes one line per row, in chunks. @throws CommandFailure if it was interrupted */
async function writeLines<Row>(
  file: FileHandle,
  rows: AsyncIterable<Row>,
  write: (row: Row) => string,
  signal: AbortSignal,
  onChunk?: (count: number) => void,
): Promise<number> {
  let [count, lines] = [0, [] as string[]];
  const flush = async (): Promise<void> => {
    await file.appendFile(lines.join(''));
    onChunk?.(count);
    lines = [];
    if (signal.aborted) throw interrupted('nothing was written');
  };
  for await (const row of rows) {
    lines.push(`${write(row)}\n`);
    count += 1;
    if (lines.length === CHUNK) await flush();
  }
  await flush();
  return count;
}

/** One object, formatted like the example files. */
function writeMembers(members: Readonly<Record<string, string>>): string {
  return `{${Object.entries(members)
    .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
    .join(', ')}}`;
}
