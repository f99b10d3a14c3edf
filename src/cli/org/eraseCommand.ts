import { join } from 'node:path';
import { CommandFailure, interrupted, notFound } from '../common/failure';
import type { JsonOption } from '../common/help';
import type { Store } from '../common/open';
import { interruption } from '../common/signals';
import { note, printResult } from '../common/terminal';
import { requireConfirmed, withStore } from '../common/withStore';
import { exportFolder, prepareFolder } from '../export';
import { dropUntilGone } from './copies';

interface EraseOptions extends JsonOption {
  readonly confirm: string;
  /** Folder for the export instead of the default one; false for no export. */
  readonly export?: string | false;
}

/** `scopegate org erase`. */
export async function eraseCommand(id: string, options: EraseOptions): Promise<void> {
  const signal = interruption();
  const exported = await withStore(async (store, { DATA_DIR }) => {
    const fallback = join(DATA_DIR, 'erased', id);
    const folder = options.export === false ? undefined : (options.export ?? fallback);
    return erase(store, { id, confirm: options.confirm, folder, isOwn: folder === fallback, signal });
  }, signal);
  const where = `\nIts data are in ${exported ?? ''}. Delete them when nobody needs them any more.`;
  const shown = `Organisation ${id} is erased.${exported === undefined ? '' : where}`;
  printResult(options.json, { id, erased: true, export: exported ?? null }, shown);
}

interface Erasing {
  readonly id: string;
  readonly confirm: string;
  /** Where to export to. */
  readonly folder: string | undefined;
  /** Whether the folder is for this organisation only, so that files there are of an earlier attempt. */
  readonly isOwn: boolean;
  readonly signal: AbortSignal;
}

/** Erases an organisation, or what an earlier attempt left. Resolves with the folder of the export, if there is one. */
export async function erase(
  store: Store,
  { id, confirm, folder, isOwn, signal }: Erasing,
): Promise<string | undefined> {
  const { control, databases } = store;
  const before = await control.organisations.find(id);
  if (!before) {
    const cluster = await control.erasing.clusterOf(id);
    if (cluster === undefined) throw notFound('organisation', id);
    await dropUntilGone(await databases.open({ id, cluster }));
    return undefined;
  }
  const { move, copies = [] } = (await control.moving.movesOf(id)) ?? {};
  if (move) {
    throw new CommandFailure(
      `organisation ${id} is being moved to cluster ${move.to}; let that finish, or run scopegate org move ${id} --undo`,
    );
  }
  requireConfirmed('organisation', confirm, before.name);
  // before anything is changed: the export can be written, and its clusters respond
  const exporting =
    folder === undefined ? undefined : { folder, force: isOwn || before.state === 'erasing', keys: undefined };
  if (exporting && before.state !== 'erasing') await prepareFolder(exporting);
  const data = await databases.open(before);
  const old = await Promise.all(copies.map(({ cluster }) => databases.open({ id, cluster })));
  const erasure = await control.erasing.begin(id);
  if (!erasure) throw notFound('organisation', id);
  await data.slots.fence();
  if (!erasure.exported) {
    if (exporting) {
      await exportFolder({ ...exporting, organisation: before, data, signal });
      note(`exported to ${exporting.folder}`);
    }
    if (signal.aborted) throw interrupted('run the same command again');
    await control.erasing.noteExported(id);
  }
  for (const one of [data, ...old]) await dropUntilGone(one);
  await control.erasing.finish(erasure.organisation);
  // what was made before the row was deleted
  await dropUntilGone(data);
  return folder;
}
