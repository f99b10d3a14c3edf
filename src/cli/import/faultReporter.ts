import { basename } from 'node:path';
import { createProgress } from '../common/progress';
import { paint, plain, say, sayPainted } from '../common/terminal';
import type { ImportTarget, LineFault } from './importFile';

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
export function faultReporter({ keep }: { readonly keep: boolean }): Pick<ImportTarget, 'onFault' | 'progress'> & {
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
