import { statSync } from 'node:fs';
import type { Config } from '../../config';
import { CommandFailure, EXIT, usageFailure } from '../common/failure';
import type { JsonOption } from '../common/help';
import type { Store } from '../common/open';
import { interruption } from '../common/signals';
import { printJson, printTable } from '../common/terminal';
import { requireOrganisation, withStore } from '../common/withStore';
import { faultReporter } from './faultReporter';
import type { FileReport, ImportTarget } from './importFile';
import { checkKeys, importKeys } from './importKeys';
import { readOrganisation, restoreOrganisation } from './importOrganisation';
import { importPath } from './importPath';

export interface ImportOptions extends JsonOption {
  readonly org: string;
  readonly keys?: true;
}

const COLUMNS = ['read', 'created', 'updated', 'unchanged', 'failed'] as const;

/** `scopegate import`. @throws CommandFailure if a line was invalid or the import was interrupted. */
export async function importCommand(path: string, { org, keys, json }: ImportOptions): Promise<void> {
  const signal = interruption();
  const { kept: errors, ...reporter } = faultReporter({ keep: json === true });
  const files = await withStore(
    (store, config) => importAll(store, config, { org, path, keys: keys === true, ...reporter, signal }),
    signal,
  );
  const reports = Object.entries(files);
  if (json) printJson({ files, errors });
  else {
    printTable(
      ['FILE', ...COLUMNS.map((column) => column.toUpperCase())],
      reports.map(([file, report]) => [file, ...COLUMNS.map((column) => String(report[column]))]),
    );
  }
  if (signal.aborted)
    throw new CommandFailure(
      'interrupted; completed batches are stored, run the same command again to continue',
      EXIT.interrupted,
    );
  const failed = reports.reduce((sum, [, report]) => sum + report.failed, 0);
  if (failed > 0) {
    throw new CommandFailure(
      `${String(failed)} ${failed === 1 ? 'line was' : 'lines were'} not stored; fix and import again, stored records are left unchanged`,
    );
  }
}

interface ImportAll extends Omit<ImportTarget, 'data'> {
  readonly org: string;
  readonly path: string;
  /** Whether keys are imported too. */
  readonly keys: boolean;
}

/** Imports a folder, or one file of records. What can be rejected as a whole is checked before anything is stored. */
async function importAll(
  store: Store,
  config: Config,
  { org, path, keys, ...target }: ImportAll,
): Promise<Record<string, FileReport>> {
  const organisation = await requireOrganisation(store, org);
  const data = await store.databases.open(organisation);
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (keys && !isFolder) throw usageFailure(`--keys needs a folder with keys.ndjson, and ${path} is none`);
  const file = isFolder ? await readOrganisation(path) : undefined;
  const ofKeys = { store, config, organisationId: org, folder: path, ...target };
  const raise = keys ? await checkKeys(ofKeys) : 0;
  if (file) await restoreOrganisation(store, organisation, data, file);
  const files = await importPath({ data, path, ...target });
  return keys && !target.signal?.aborted ? { ...files, keys: await importKeys({ ...ofKeys, raise }) } : files;
}
