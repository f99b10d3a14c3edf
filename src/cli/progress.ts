import { Presets, SingleBar } from 'cli-progress';

/** Shows the progress of a file or other long-running work. */
export interface Progress {
  start(name: string, total: number): void;
  /** `done` is out of `total`, in any unit; `count` is how many records or other items that is. */
  update(done: number, count: number): void;
  stop(): void;
}

/** How often a line is written if stderr is not a terminal, in milliseconds. */
const LINE_EVERY = 5000;

/**
 * A progress bar on stderr. `counted` names the items that it counts. If stderr is not a terminal, it shows nothing or, with `lines`,
 * a line every few seconds.
 */
export function createProgress(counted = 'records', lines = false): Progress {
  const isTerminal = process.stderr.isTTY;
  const format = `{name} ${isTerminal ? '{bar} ' : ''}{percentage}% | {count} ${counted}`;
  const bar = new SingleBar(
    {
      ...{ format, hideCursor: true, barsize: 30, gracefulExit: false },
      ...{ noTTYOutput: lines, notTTYSchedule: LINE_EVERY },
    },
    Presets.shades_classic,
  );
  return {
    start: (name, total) => {
      // an empty file shows as 100%
      bar.start(Math.max(total, 1), total === 0 ? 1 : 0, { name: name.padEnd(9), count: 0 });
    },
    update: (done, count) => {
      bar.update(done, { count });
    },
    stop: () => {
      bar.stop();
    },
  };
}
