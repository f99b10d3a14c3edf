import { Presets, SingleBar } from 'cli-progress';

/** Shows the progress of files or other long-running work, one after another: each is started, updated and stopped. */
export interface Progress {
  start(name: string, total: number): void;
  /** `done` is out of `total`, in any unit; `count` is how many items that is, which are shown. */
  update(done: number, count: number): void;
  readonly stop: () => void;
}

/** Aligns the bars of files; a longer name shifts its own. */
const NAME_WIDTH = 'customers'.length;

/** A progress bar on stderr, which shows nothing if stderr is not a terminal. `unit` names the items that it counts. */
export function createProgress(unit = 'records'): Progress {
  const format = `{name} {bar} {percentage}% | {count} ${unit}`;
  const bar = new SingleBar({ format, hideCursor: true, barsize: 30 }, Presets.shades_classic);
  return {
    start: (name, total) => {
      // an empty file shows as 100%
      bar.start(Math.max(total, 1), total === 0 ? 1 : 0, { name: name.padEnd(NAME_WIDTH), count: 0 });
    },
    update: (done, count) => {
      bar.update(done, { count });
    },
    stop: () => {
      bar.stop();
    },
  };
}
