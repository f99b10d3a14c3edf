import { CommandFailure, EXIT } from '../common/failure';
import { interruption } from '../common/signals';
import { printJson, printTable } from '../common/terminal';
import { requireOrganisation, withStore } from '../common/withStore';
import { faultReporter } from './faultReporter';
import { importPath } from './importPath';
import type { ImportOptions } from './index';

const COLUMNS = ['read', 'created', 'updated', 'unchanged', 'failed'] as const;

/** `scopegate import`. @throws CommandFailure if a line was invalid or the import was interrupted. */
export async function importCommand(path: string, { org, json }: ImportOptions): Promise<void> {
  const signal = interruption();
  const { kept: errors, ...reporter } = faultReporter({ keep: json === true });
  const files = await withStore(async (store) => {
    const data = await store.databases.open(await requireOrganisation(store, org));
    return importPath({ data, path, ...reporter, signal });
  }, signal);
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
