import { basename } from 'node:path';
import type { Progress } from '../common/progress';
import { paint, plain, say, sayPainted } from '../common/terminal';
import type { LineFault } from './report';

/** Faults shown on a terminal; a pipe gets all of them. */
const MOST_ON_TERMINAL = 100;

/** A fault in the output of --json. */
interface ReportedFault {
  readonly file: string;
  readonly line: number;
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

export interface FaultReporter {
  readonly report: (fault: LineFault) => void;
  /** Every fault, if they are kept. */
  readonly kept: readonly ReportedFault[];
  /** Wraps a progress so that a file's faults are printed after its bar is done, since they would break it up. */
  between(progress: Progress): Progress;
}

/** Reports invalid lines on stderr, and keeps them for --json. */
export function faultReporter({ keep }: { readonly keep: boolean }): FaultReporter {
  const { isTTY } = process.stderr;
  const kept: ReportedFault[] = [];
  let [waiting, shown, hidden] = [[] as string[], 0, 0];
  const release = (): void => {
    for (const line of waiting) sayPainted(line);
    if (hidden > 0) {
      say(`… and ${String(hidden)} more faults; add 2> faults.txt to see them all`);
    }
    [waiting, hidden] = [[], 0];
  };
  return {
    kept,
    report(fault) {
      if (keep) kept.push(toReported(fault));
      if (!isTTY) {
        sayPainted(toLine(fault));
        return;
      }
      shown += 1;
      if (shown <= MOST_ON_TERMINAL) waiting.push(toLine(fault));
      else hidden += 1;
    },
    between: (progress) => ({
      ...progress,
      stop: () => {
        progress.stop();
        release();
      },
    }),
  };
}

function toReported({ path, line, pointer = '', code, detail }: LineFault): ReportedFault {
  return { file: basename(path), line, pointer, code, detail };
}

/** `file:line: pointer: fault`, a format that editors turn into a link. */
function toLine({ path, line, pointer = '', detail }: LineFault): string {
  const where = paint(process.stderr, 'bold', plain(`${path}:${String(line)}:`));
  return [where, ...(pointer === '' ? [] : [plain(`${pointer}:`)]), plain(detail)].join(' ');
}
