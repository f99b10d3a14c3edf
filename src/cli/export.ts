import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ApiKey } from '../auth/keys';
import type { Organisation } from '../auth/principal';
import type { OrganisationData } from '../tenant/organisationData';
import { toKeyRecord } from '../organisations/keyRecords';
import type { Fingerprint } from '../organisations/pepper';
import { publishedSchemas } from '../gateway/schemas';
import { recordKinds } from '../resources';
import type { RecordKind } from '../stored/records';
import { SCHEMA_ROOT } from '../schema/jsonSchema';
import { CommandFailure, interrupted, interruption } from './ending';
import type { OrgOption } from './help';
import { createProgress } from './progress';
import { print, printJson, printTable } from './terminal';
import { requireData, withStore } from './withStore';
import { fileName, KEYS_FILE, ORGANISATION_FILE, recordName, recordSchemas, recordWriter, type Write } from './records';

/** Maximum number of records to name in the error if they cannot be written. */
const MAX_NAMED = 100;

interface ExportOptions extends OrgOption {
  readonly force?: true;
  readonly keys?: true;
}

/** `scopegate export`. */
export async function exportCommand(folder: string, { org, keys, force, json }: ExportOptions): Promise<void> {
  const signal = interruption();
  const files = await withStore(async (store) => {
    const { control, databases } = store;
    const organisation = await requireData(store, org);
    const data = databases.organisationData(organisation);
    const withKeys = keys && { pepper: await control.pepper.fingerprint(), each: () => control.apiKeys.each(org) };
    return exportFolder({ organisation, data, folder, force: force === true, signal, keys: withKeys });
  }, signal);
  if (json) {
    printJson({ dir: folder, files });
    return;
  }
  const rows = Object.entries(files).map(([file, count]) => [file, String(count)]);
  printTable(['FILE', 'RECORDS'], rows);
  print(`\nWritten to ${folder}. To load it elsewhere: scopegate import --org ID ${folder}`);
}

interface Export {
  readonly organisation: Organisation;
  readonly data: OrganisationData;
  readonly folder: string;
  /** Whether existing files may be overwritten. */
  readonly force: boolean;
  /** The organisation's keys and the fingerprint of their pepper; undefined to leave them out. */
  readonly keys: { readonly pepper: Fingerprint; readonly each: () => AsyncIterable<ApiKey> } | undefined;
  readonly signal: AbortSignal;
}

/** An export contains personal data, so only its owner may read it. */
const OWNER_ONLY = { folder: 0o700, file: 0o600 } as const;

/** The names of all files of an export. */
const namesOf = ({ keys }: Pick<Export, 'keys'>): string[] => [
  ...recordKinds.map(fileName),
  ...(keys ? [KEYS_FILE] : []),
  ORGANISATION_FILE,
];

/**
 * Creates the folder of an export, and checks that files can be written to it.
 * @throws CommandFailure if they cannot, or if some of the files exist and `force` is not set.
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
  const names = namesOf(options);
  const there = force ? [] : (await readdir(folder)).filter((file) => names.includes(file));
  if (there.length === 0) return;
  throw new CommandFailure(
    `${folder} already has ${there.join(', ')}; use another folder, or add --force to overwrite them`,
  );
}

/**
 * Writes every file of an organisation, and puts them in place only when all are complete. Resolves with the number of
 * records in each file.
 * @throws CommandFailure if it was interrupted, if a record cannot be written, or as {@link prepareFolder} does.
 */
export async function exportFolder(options: Export): Promise<Record<string, number>> {
  const { folder, organisation, data, keys, signal } = options;
  await prepareFolder(options);
  const names = namesOf(options);
  const suffix = `.${randomUUID()}.part`;
  const draft = (name: string): string => join(folder, `.${name}${suffix}`);
  const schemas = recordSchemas(publishedSchemas().rest, recordKinds);
  const counts: Record<string, number> = {};
  try {
    for (const kind of recordKinds) {
      const write = recordWriter(schemas, { $ref: SCHEMA_ROOT + recordName(kind) }, kind.decimals);
      counts[kind.file] = await writeLines(draft(fileName(kind)), recordLines(kind, data, write), signal);
    }
    // the first line is no key
    if (keys) counts.keys = (await writeLines(draft(KEYS_FILE), keyLines(keys), signal)) - 1;
    const { name, plan, currency } = organisation;
    const members = Object.entries({ name, plan, currency }).map(
      ([key, value]) => `"${key}": ${JSON.stringify(value)}`,
    );
    // formatted like the example files
    await writeFile(draft(ORGANISATION_FILE), `{${members.join(', ')}}`, { mode: OWNER_ONLY.file });
    for (const file of names) await rename(draft(file), join(folder, file));
    return counts;
  } finally {
    for (const file of names) await rm(draft(file), { force: true });
  }
}

/** The records of a kind, as lines. @throws CommandFailure at the end if some could not be imported again */
async function* recordLines(kind: RecordKind, data: OrganisationData, write: Write): AsyncGenerator<string> {
  const progress = createProgress();
  progress.start(kind.file, await kind.count(data));
  const named: string[] = [];
  let [written, broken] = [0, 0];
  try {
    for await (const record of kind.read(data)) {
      const fault = kind.faultIn(record);
      if (fault) {
        broken += 1;
        if (broken <= MAX_NAMED) named.push(`  ${record.id}: ${String(fault.pointer)} ${fault.detail}`);
        continue;
      }
      yield write(record);
      written += 1;
      progress.update(written, written);
    }
  } finally {
    progress.stop();
  }
  if (broken === 0) return;
  if (broken > MAX_NAMED) named.push(`  and ${String(broken - MAX_NAMED)} more`);
  const reason = `these ${kind.file} have members that another program stored in a form that import refuses; correct them in the database`;
  throw new CommandFailure([`nothing was written: ${reason}`, ...named].join('\n'));
}

/** The lines of keys.ndjson: the fingerprint of the pepper, then the keys. */
async function* keyLines({ pepper, each }: NonNullable<Export['keys']>): AsyncGenerator<string> {
  const { salt, hash, number } = pepper;
  yield JSON.stringify({ pepper: { salt, hash, number } });
  for await (const key of each()) yield JSON.stringify(toKeyRecord(key));
}

/** Writes lines to a new file, and resolves with their number. @throws CommandFailure if it was interrupted */
async function writeLines(path: string, lines: AsyncIterable<string>, signal: AbortSignal): Promise<number> {
  let count = 0;
  const withNewlines = async function* () {
    for await (const line of lines) {
      yield `${line}\n`;
      count += 1;
    }
  };
  // created before anything can fail, so that the caller can always delete the file
  const file = await open(path, 'wx', OWNER_ONLY.file);
  try {
    await pipeline(withNewlines, file.createWriteStream(), { signal });
  } catch (error) {
    throw signal.aborted ? interrupted('nothing was written') : error;
  }
  return count;
}
