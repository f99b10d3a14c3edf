import { CommandFailure, EXIT } from '../common/failure';
import { createProgress } from '../common/progress';
import { interruption } from '../common/signals';
import { printJson, printTable } from '../common/terminal';
import { requireOrganisation, withStore } from '../common/withStore';
import { faultReporter } from './faultReporter';
import type { ImportCommandOptions } from './index';
import { importPath } from './importPath';
import type { FileReport } from './report';

/** `scopegate import`. @throws CommandFailure if a line was invalid or the import was interrupted. */
export async function importCommand(path: string, options: ImportCommandOptions): Promise<void> {
  const signal = interruption();
  const reporter = faultReporter({ keep: options.json === true });
  const files = await withStore(async (store) => {
    const organisation = await requireOrganisation(store, options.org);
    const data = await store.databases.open(organisation);
    return importPath({ data, path, onFault: reporter.report, progress: reporter.between(createProgress()), signal });
  }, signal);
  if (options.json) printJson({ files, errors: reporter.kept });
  else printReports(files);
  if (signal.aborted)
    throw new CommandFailure(
      'interrupted; completed batches are stored, run the same command again to continue',
      EXIT.interrupted,
    );
  const failed = Object.values(files).reduce((sum, report) => sum + report.failed, 0);
  if (failed > 0) {
    throw new CommandFailure(
      `${String(failed)} ${failed === 1 ? 'line was' : 'lines were'} not stored; fix and import again, stored records are left unchanged`,
    );
  }
}

function printReports(files: Readonly<Record<string, FileReport>>): void {
  const columns = ['read', 'created', 'updated', 'unchanged', 'failed'] as const;
  printTable(
    ['FILE', ...columns.map((column) => column.toUpperCase())],
    Object.entries(files).map(([file, report]) => [file, ...columns.map((column) => String(report[column]))]),
  );
}
