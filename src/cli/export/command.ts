import type { OrgOption } from '../common/help';
import { interruption } from '../common/signals';
import { print, printJson, printTable } from '../common/terminal';
import { requireOrganisation, withStore } from '../common/withStore';
import { exportFolder } from './exportFolder';

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
