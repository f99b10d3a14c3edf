import { Presets, SingleBar } from 'cli-progress';

/** The progress of a file or other long-running work. */
export interface Progress {
  start(name: string, total: number): void;
  /** `done` out of `total`, and how many records (or other items) that is. */
  update(done: number, count: number): void;
  stop(): void;
}

/** A progress bar on stderr, which shows nothing in a pipe. `counted` names the items it counts. */
export function createProgress(counted = 'records'): Progress {
  const format = `{name} {bar} {percentage}% | {count} ${counted}`;
  const bar = new SingleBar({ format, hideCursor: true, barsize: 30, gracefulExit: false }, Presets.shades_classic);
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
