import { statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Config } from '../../config';
import { CommandFailure, interrupted, usageFailure } from '../common/failure';
import type { OrgOption } from '../common/help';
import type { Store } from '../common/open';
import { createProgress } from '../common/progress';
import { interruption } from '../common/signals';
import { paint, plain, printJson, printTable, say, sayPainted } from '../common/terminal';
import { requireOrganisation, withStore } from '../common/withStore';
import { checkKeys, importKeys } from './importKeys';
import { readOrganisation, restoreOrganisation } from './importOrganisation';
import { type FileReport, importPath, type ImportTarget, type LineFault } from './importPath';

interface ImportOptions extends OrgOption {
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
  if (signal.aborted) throw interrupted('completed batches are stored, run the same command again to continue');
  const failed = reports.reduce((sum, [, report]) => sum + report.failed, 0);
  if (failed > 0) {
    const lines = failed === 1 ? '1 line was' : `${String(failed)} lines were`;
    throw new CommandFailure(`${lines} not stored; fix and import again, stored records are left unchanged`);
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

/** Faults shown on a terminal; a pipe gets all of them. */
const MOST_ON_TERMINAL = 100;

/** A fault in the output of --json. */
interface ReportedFault extends Required<Pick<LineFault, 'line' | 'pointer' | 'code' | 'detail'>> {
  readonly file: string;
}

/**
 * Reports invalid lines on stderr, on a terminal after the progress of their file is done, since they would break up its bar.
 * With `keep`, they are also in `kept`, for --json.
 */
function faultReporter({ keep }: { readonly keep: boolean }): Pick<ImportTarget, 'onFault' | 'progress'> & {
  readonly kept: readonly ReportedFault[];
} {
  const progress = createProgress();
  const kept: ReportedFault[] = [];
  let [waiting, shown, hidden] = [[] as string[], 0, 0];
  return {
    kept,
    onFault(fault) {
      const { path, line, pointer = '', code, detail } = fault;
      if (keep) kept.push({ file: basename(path), line, pointer, code, detail });
      shown += 1;
      if (!process.stderr.isTTY) sayPainted(toLine(fault));
      else if (shown <= MOST_ON_TERMINAL) waiting.push(toLine(fault));
      else hidden += 1;
    },
    progress: {
      ...progress,
      stop: () => {
        progress.stop();
        waiting.forEach(sayPainted);
        if (hidden > 0) say(`… and ${String(hidden)} more faults; add 2> faults.txt to see them all`);
        [waiting, hidden] = [[], 0];
      },
    },
  };
}

/** `file:line: pointer: fault`, a format that editors turn into a link. */
function toLine({ path, line, pointer = '', detail }: LineFault): string {
  const where = paint(process.stderr, 'bold', plain(`${path}:${String(line)}:`));
  return [where, ...(pointer === '' ? [] : [plain(`${pointer}:`)]), plain(detail)].join(' ');
}
