import { basename } from 'node:path';
import type { Progress } from '../common/progress';
import { paint, plain, say, sayPainted } from '../common/terminal';
import type { LineFault } from './report';

/** So many faults are shown on a terminal; a pipe gets them all. */
const MOST_ON_TERMINAL = 100;

/** A fault as --json lists it. */
interface ToldFault {
  readonly file: string;
  readonly line: number;
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

export interface FaultTeller {
  readonly tell: (fault: LineFault) => void;
  /** Every fault, where they were to be kept. */
  readonly kept: readonly ToldFault[];
  /** The progress with the faults of each file said when its bar is done, which they would tear apart. */
  between(progress: Progress): Progress;
}

/** Names bad lines on stderr, and keeps them for --json. */
export function faultTeller({ keep }: { readonly keep: boolean }): FaultTeller {
  const { isTTY } = process.stderr;
  const kept: ToldFault[] = [];
  let [waiting, told, silent] = [[] as string[], 0, 0];
  const release = (): void => {
    for (const line of waiting) sayPainted(line);
    if (silent > 0) {
      say(`… and ${String(silent)} more faults; add 2> faults.txt to have them all`);
    }
    [waiting, silent] = [[], 0];
  };
  return {
    kept,
    tell(fault) {
      if (keep) kept.push(toTold(fault));
      if (!isTTY) {
        sayPainted(toLine(fault));
        return;
      }
      told += 1;
      if (told <= MOST_ON_TERMINAL) waiting.push(toLine(fault));
      else silent += 1;
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

function toTold({ path, line, pointer = '', code, detail }: LineFault): ToldFault {
  return { file: basename(path), line, pointer, code, detail };
}

/** `file:line: pointer: fault`, which editors take as a link. */
function toLine({ path, line, pointer = '', detail }: LineFault): string {
  const where = paint(process.stderr, 'bold', plain(`${path}:${String(line)}:`));
  return [where, ...(pointer === '' ? [] : [plain(`${pointer}:`)]), plain(detail)].join(' ');
}
