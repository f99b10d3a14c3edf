import { randomUUID } from 'node:crypto';
import type { Databases } from '../../database/connect';
import { recorderOf, type RecorderOptions } from './recorder';
import { createTail, type TailState } from './tail';

export interface TailsOptions extends Omit<RecorderOptions, 'cluster' | 'databases'> {
  readonly databases: Databases;
}

export type Tails = ReturnType<typeof createTails>;

/** The tails of all clusters, each of which fails alone. */
export function createTails({ databases, ...options }: TailsOptions) {
  const holder = randomUUID();
  const tails = databases.clusters.map((cluster) =>
    createTail({
      ...{ cluster, holder, control: databases.control.name, logger: options.logger },
      recorder: recorderOf({ ...options, cluster, databases }),
      client: () => databases.streams(cluster),
      now: () => databases.timeOf(cluster),
    }),
  );
  return {
    start(): void {
      for (const tail of tails) tail.start();
    },
    stop: async (): Promise<void> => {
      await Promise.all(tails.map((tail) => tail.stop()));
    },
    states: (): TailState[] => tails.map((tail) => tail.state()),
  };
}
