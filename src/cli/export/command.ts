import { writeFile } from 'node:fs/promises';
import type { OrganisationForOperators } from '../../organisations/organisationRows';
import type { OrganisationData } from '../../tenant/organisationData';
import { publishedSchemas } from '../../gateway/schemas';
import { recordKinds } from '../../resources';
import { SCHEMA_ROOT } from '../../schema/jsonSchema';
import { unnamedMaster } from '../../webhooks/masterSecret';
import { CommandFailure, interrupted, interruption } from '../ending';
import type { OrgOption } from '../help';
import {
  ATTACHMENTS_FOLDER,
  fileName,
  KEYS_FILE,
  missingIn,
  ORGANISATION_FILE,
  recordName,
  recordSchemas,
  recordWriter,
  WEBHOOKS_FILE,
} from '../records';
import type { Store } from '../store';
import { note, print, printJson, printTable } from '../terminal';
import { requireData, withStore } from '../withStore';
import { withFiles } from './attachments';
import { createDraft, type Draft, existingIn, OWNER_ONLY } from './draft';
import { keyLines, type Keys, type Lines, recordLines, type Webhooks, webhookLines, writeLines } from './lines';
import { syncFiles } from './sync';

interface ExportOptions extends OrgOption {
  readonly force?: true;
  readonly keys?: true;
  readonly webhooks?: true;
}

/** `scopegate export`. */
export async function exportCommand(folder: string, options: ExportOptions): Promise<void> {
  const { org, keys, webhooks, force, json } = options;
  const signal = interruption();
  const files = await withStore(async (store) => {
    const organisation = await requireData(store, org);
    const data = store.databases.organisationData(organisation);
    const parts = { keys: keys && (await keysOf(store, org)), webhooks: webhooks && (await webhooksOf(store, org)) };
    // what was read of one whose erasure has begun may lack what was dropped
    const requireWhole = () => requireData(store, org);
    return exportFolder({ organisation, data, folder, force: force === true, signal, requireWhole, ...parts });
  }, signal);
  if (json) printJson({ dir: folder, files });
  else {
    const rows = Object.entries(files).map(([file, count]) => [file, String(count)]);
    printTable(['FILE', 'RECORDS'], rows);
    print(`\nWritten to ${folder}. To load it elsewhere: scopegate import --org ID ${folder}`);
  }
  note(`not in the export: ${missingIn(options)}`);
}

interface Export {
  readonly organisation: OrganisationForOperators;
  readonly data: OrganisationData;
  readonly folder: string;
  /** Whether existing files of an export may be overwritten, and removed if this one lacks them. */
  readonly force: boolean;
  /** Undefined to leave them out. */
  readonly keys?: Keys | undefined;
  readonly webhooks?: Webhooks | undefined;
  readonly signal: AbortSignal;
  /** Called once everything is read, before anything is put in place; throws to prevent that. */
  readonly requireWhole: () => Promise<unknown>;
}

const keysOf = async ({ control }: Store, org: string): Promise<Keys> => ({
  pepper: await control.pepper.exported(),
  each: () => control.apiKeys.eachOfPrograms(org),
});

const webhooksOf = async ({ control, databases }: Store, org: string): Promise<Webhooks> => ({
  rows: await control.webhooks.list(org),
  master: await unnamedMaster(databases),
});

/** All files that an export may have, in the order in which they are put in place. */
const FILES: readonly string[] = [
  // first: by its id, an erasure that was killed knows the folder as its own
  ORGANISATION_FILE,
  KEYS_FILE,
  WEBHOOKS_FILE,
  // before the records, so that none is in place before its files
  ATTACHMENTS_FOLDER,
  ...recordKinds.map(fileName),
];

type Target = Pick<Export, 'folder' | 'force'> & Partial<Pick<Export, 'signal'>>;

/**
 * Creates the folder of an export and a draft in it.
 * @throws CommandFailure if files cannot be written to it, or if some of them exist and `force` is not set.
 */
async function openDraft({ folder, force, signal }: Target): Promise<Draft> {
  const draft = await createDraft(folder, signal).catch((error: unknown) => {
    throw new CommandFailure(`cannot write to ${folder} (${(error as Error).message}); give another folder`);
  });
  try {
    existingIn(folder, FILES, force);
    return draft;
  } catch (error) {
    await draft.remove();
    throw error;
  }
}

/** Checks that an export can be written to a folder, which is created if it is missing. @throws CommandFailure if it cannot */
export async function checkFolder(target: Target): Promise<void> {
  await (await openDraft(target)).remove();
}

/**
 * Writes every file of an organisation, and puts them in place only when all are complete. Resolves with the number of
 * records in each file.
 * @throws CommandFailure if it was interrupted, if a record cannot be written, or as {@link checkFolder} does; what `requireWhole` throws
 */
export async function exportFolder(options: Export): Promise<Record<string, number>> {
  const { organisation, data, keys, webhooks, force, signal, requireWhole } = options;
  const draft = await openDraft(options);
  const schemas = recordSchemas(publishedSchemas().rest, recordKinds);
  const counts: Record<string, number> = {};
  const written = new Set<string>();
  const write = (file: string, lines: Lines) => {
    written.add(file);
    return writeLines(draft.path(file), lines, signal);
  };
  let files = 0;
  const target = { folder: draft.path(ATTACHMENTS_FOLDER), signal, onFile: () => (files += 1) };
  try {
    for (const kind of recordKinds) {
      const toLine = recordWriter(schemas, { $ref: SCHEMA_ROOT + recordName(kind) }, kind.decimals);
      counts[kind.file] = await write(fileName(kind), recordLines(withFiles(kind, target), data, toLine));
    }
    if (files > 0) {
      await syncFiles(target.folder);
      counts[ATTACHMENTS_FOLDER] = files;
      written.add(ATTACHMENTS_FOLDER);
    }
    // the first line is the fingerprint of the pepper
    if (keys) counts.keys = (await write(KEYS_FILE, keyLines(keys))) - 1;
    if (webhooks) counts.webhooks = await write(WEBHOOKS_FILE, webhookLines(webhooks));
    written.add(ORGANISATION_FILE);
    const how = { mode: OWNER_ONLY.file, flush: true };
    await writeFile(draft.path(ORGANISATION_FILE), organisationText(organisation), how);
    await requireWhole();
    await draft.complete({ files: FILES, written, force });
    return counts;
  } catch (error) {
    throw signal.aborted ? interrupted('nothing was written') : error;
  } finally {
    await draft.remove();
  }
}

/** The text of organisation.json. */
function organisationText(organisation: OrganisationForOperators): string {
  const { id, name, plan, currency, external_ref, created_at, state } = organisation;
  const members = { id, name, plan, currency, external_ref, created_at, ...(state !== 'erasing' && { state }) };
  // formatted like the example files
  return `{${Object.entries(members)
    .map(([member, value]) => `"${member}": ${JSON.stringify(value)}`)
    .join(', ')}}`;
}
