import { Presets, SingleBar } from 'cli-progress';

/** The progress of a file or other long-running work; does nothing when stderr is not a terminal. */
export interface Progress {
  start(name: string, total: number): void;
  /** `done` out of `total`, and how many records (or other items) that is. */
  update(done: number, count: number): void;
  stop(): void;
}

const SILENT: Progress = { start: () => undefined, update: () => undefined, stop: () => undefined };

/** A progress bar on a terminal, nothing in a pipe. `counted` names the items it counts. */
export function createProgress(counted = 'records', stream: NodeJS.WriteStream = process.stderr): Progress {
  if (!stream.isTTY) return SILENT;
  const bar = new SingleBar(
    {
      stream,
      format: `{name} {bar} {percentage}% | {count} ${counted}`,
      hideCursor: true,
      barsize: 30,
      gracefulExit: false,
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
