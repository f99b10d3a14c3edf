import { CommandFailure, EXIT } from '../common/failure';
import { createProgress } from '../common/progress';
import { interruption } from '../common/signals';
import { printJson, printTable } from '../common/terminal';
import { requireOrganisation, withStore } from '../common/withStore';
import { faultTeller } from './faultTeller';
import type { ImportCommandOptions } from './index';
import { importPath } from './importPath';
import type { FileReport } from './report';

/** `scopegate import`. @throws CommandFailure when a line was bad or the import was interrupted. */
export async function importCommand(path: string, options: ImportCommandOptions): Promise<void> {
  const signal = interruption();
  const teller = faultTeller({ keep: options.json === true });
  const files = await withStore(async (store) => {
    const organisation = await requireOrganisation(store, options.org);
    const data = store.databases.organisationData(organisation);
    return importPath({ data, path, onFault: teller.tell, progress: teller.between(createProgress()), signal });
  }, signal);
  if (options.json) printJson({ files, errors: teller.kept });
  else printReports(files);
  if (signal.aborted)
    throw new CommandFailure(
      'interrupted; whole batches are stored, run the same command again to go on',
      EXIT.interrupted,
    );
  const failed = Object.values(files).reduce((sum, report) => sum + report.failed, 0);
  if (failed > 0) {
    throw new CommandFailure(
      `${String(failed)} ${failed === 1 ? 'line was' : 'lines were'} not stored; mend and import again, what is stored stays as it is`,
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
