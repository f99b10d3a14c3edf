import { CommandFailure, EXIT } from '../common/failure';
import { createProgress } from '../common/progress';
import { interruption } from '../common/signals';
import { print, printJson, printTable } from '../common/terminal';
import { requireOrganisation, withStore } from '../common/withStore';
import { exportFolder } from './exportFolder';
import type { ExportCommandOptions } from './index';

/** `scopegate export`. */
export async function exportCommand(folder: string, options: ExportCommandOptions): Promise<void> {
  const signal = interruption();
  const files = await withStore(async (store) => {
    const organisation = await requireOrganisation(store, options.org);
    const data = await store.databases.open(organisation);
    return exportFolder({
      organisation,
      data,
      folder,
      force: options.force === true,
      progress: createProgress(),
      signal,
    });
  }, signal);
  if (!files) throw new CommandFailure('interrupted; nothing was written', EXIT.interrupted);
  if (options.json) {
    printJson({ dir: folder, files });
    return;
  }
  printTable(
    ['FILE', 'RECORDS'],
    Object.entries(files).map(([file, count]) => [file, String(count)]),
  );
  print(`\nWritten to ${folder}. To load it elsewhere: scopegate import --org ID ${folder}`);
}
