import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { modeOf } from '../../auth/principal';
import type { Stamp } from '../../stored/records';
import { CommandFailure, interrupted, interruption, usageFailure } from '../ending';
import type { OrgOption } from '../help';
import { createProgress } from '../progress';
import { recordNames } from '../ownNames';
import { missingIn } from '../records';
import type { Store } from '../store';
import { note, paint, escapeText, printJson, printTable, say, sayPainted } from '../terminal';
import { requireData, withStore } from '../withStore';
import { adoptPepper, importKeys } from './importKeys';
import type { FileReport, LineFault } from './importFile';
import { importPath, unknownFiles } from './importPath';
import { openWebhooks } from './importWebhooks';
import { readOrganisation, restoreOrganisation } from './organisationFile';

const COLUMNS = ['read', 'created', 'updated', 'unchanged', 'failed'] as const;

interface ImportOptions extends OrgOption {
  readonly keys?: true;
  readonly webhooks?: true;
  readonly type?: string;
  readonly stamp?: Stamp;
  readonly deleteMissing?: true;
  readonly yes?: true;
  readonly organisation?: true;
}

/** `scopegate import`. @throws CommandFailure if a line was invalid or the import was interrupted. */
export async function importCommand(path: string, options: ImportOptions): Promise<void> {
  const { org, keys, webhooks, json, deleteMissing, yes } = options;
  const signal = interruption();
  const { jsonFaults: errors, ...faultReporter } = createFaultReporter(json === true);
  const reporter = { ...faultReporter, signal };
  // what can reject the import as a whole is checked before records are stored; by then only the fingerprint of WEBHOOK_SECRET, the pepper, the
  // organisation and the names of one's own schema may be stored, in any order, and storing them again is harmless
  const { files, unknown, isExport } = await withStore(async (store, config) => {
    const organisation = await requireData(store, org);
    const data = store.databases.organisationData(organisation);
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    for (const [name, wanted] of Object.entries({ keys, webhooks }))
      if (wanted && !isFolder)
        throw usageFailure(`--${name} needs a folder with ${name}.ndjson, and ${path} is not a folder`);
    const file = isFolder ? readOrganisation(path) : undefined;
    const unknown = isFolder ? unknownFiles(path) : [];
    const storeWebhooks = webhooks && (await openWebhooks(store, config, path));
    const pepperOffset = keys ? await adoptPepper(store, path) : 0;
    if (file) await restoreOrganisation(store, organisation, data, file, options.organisation === true);
    const stamp = options.stamp ?? (await defaultStamp(store, org));
    await recordNames(store.control);
    const missing = deleteMissing && (yes ? 'delete' : 'count');
    const imported = await importPath({
      data,
      path,
      organisation: file ?? organisation,
      type: options.type,
      stamp,
      missing,
      ...reporter,
    });
    const variable = modeOf(organisation) === 'test' ? 'KEY_PREFIX_TEST' : 'KEY_PREFIX';
    const prefix = { variable, value: config[variable] } as const;
    const from = { store, prefix, organisationId: org, folder: path, pepperOffset };
    const files: Readonly<Record<string, FileReport>> = {
      ...imported,
      ...(keys && !signal.aborted && { keys: await importKeys(from, reporter) }),
      ...(storeWebhooks && !signal.aborted && { webhooks: await storeWebhooks(org, reporter) }),
    };
    // what is imported counts as the organisation's whole export, though neither can be seen: exports of earlier versions lack its id, and empty
    // files are left out
    const isAll = unknown.length === 0 && Object.values(files).every(({ failed }) => failed === 0);
    const isWhole = file && !signal.aborted && isAll;
    if (isWhole) await store.control.organisations.noteImported(org);
    // an organisation.json without an id is of another hand, such as that of the examples, or of an export by an early version
    return { files, unknown, isExport: file?.id !== undefined };
  }, signal);
  const reports = Object.entries(files);
  if (json) printJson({ files, errors });
  else {
    const columns = deleteMissing && yes ? [...COLUMNS, 'deleted' as const] : COLUMNS;
    printTable(
      ['FILE', ...columns.map((column) => column.toUpperCase())],
      reports.map(([file, report]) => [file, ...columns.map((column) => String(report[column] ?? 0))]),
    );
  }
  if (unknown.length > 0)
    note(
      `not imported, as no type has such a file (is the name misspelt, or SCHEMA_DIR not set?): ${unknown.join(', ')}`,
    );
  if (isExport) note(`not imported: ${missingIn(options)}`);
  if (signal.aborted) throw interrupted('completed batches are stored, run the same command again to continue');
  const failed = reports.reduce((sum, [, report]) => sum + report.failed, 0);
  if (failed > 0) {
    const lines = failed === 1 ? '1 line was' : `${String(failed)} lines were`;
    throw new CommandFailure(
      `${lines} not stored; fix them and import again: records already stored are left unchanged${deleteMissing ? ', and of these files nothing was deleted' : ''}`,
    );
  }
  const missing = reports.flatMap(([file, { missing: gone = 0 }]) => (gone > 0 ? [`${String(gone)} ${file}`] : []));
  if (missing.length > 0)
    throw new CommandFailure(
      `nothing was deleted: add --yes to delete ${missing.join(', ')} that the files do not have`,
    );
}

/** `now` once a key of the organisation has read changes with updated_since, which would miss changes dated back; until then `file`. */
async function defaultStamp({ control }: Store, org: string): Promise<Stamp> {
  if (!(await control.organisations.isFollowed(org))) return 'file';
  note(
    'updated_at becomes the time of this import, since keys read changes with updated_since (--stamp file keeps that of the files)',
  );
  return 'now';
}

/** Faults shown on a terminal; a pipe gets all of them. */
const MAX_ON_TERMINAL = 100;

/**
 * Reports invalid lines on stderr; on a terminal only once their file is done, since they would break up its progress bar.
 * With --json, `jsonFaults` has them, too.
 */
function createFaultReporter(isJson: boolean) {
  const progress = createProgress();
  const jsonFaults: object[] = [];
  let waiting: string[] = [];
  let shown = 0;
  let hidden = 0;
  return {
    jsonFaults,
    onFault: (fault: LineFault): void => {
      const { path, line, pointer = '', code, detail } = fault;
      if (isJson) jsonFaults.push({ file: basename(path), line, pointer, code, detail });
      shown += 1;
      if (!process.stderr.isTTY) sayPainted(toLine(fault));
      else if (shown <= MAX_ON_TERMINAL) waiting.push(toLine(fault));
      else hidden += 1;
    },
    progress: {
      ...progress,
      stop: () => {
        progress.stop();
        waiting.forEach(sayPainted);
        if (hidden > 0) say(`… and ${String(hidden)} more faults; add 2> faults.txt to see them all`);
        waiting = [];
        hidden = 0;
      },
    },
  };
}

/** `file:line: pointer: fault`, a format that editors turn into a link. */
function toLine({ path, line, pointer = '', detail }: LineFault): string {
  const where = paint(process.stderr, 'bold', escapeText(`${path}:${String(line)}:`));
  return [where, ...(pointer === '' ? [] : [escapeText(`${pointer}:`)]), escapeText(detail)].join(' ');
}
