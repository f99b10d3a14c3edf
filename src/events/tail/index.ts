import { randomUUID } from 'node:crypto';
import type { Databases } from '../../database/connect';
import type { Control } from '../../organisations/control';
import { recorderOf, type RecorderOptions } from './recorder';
import { createTail, type TailOptions, type TailState } from './tail';

export interface TailsOptions
  extends
    Pick<RecorderOptions, 'onWritten' | 'onStored' | 'onRefused'>,
    Pick<TailOptions, 'onNoLog' | 'onError' | 'onLost'> {
  readonly databases: Databases;
  readonly feeds: Control['feeds'];
}

export type Tails = ReturnType<typeof createTails>;

/** The tails of all clusters, each of which fails alone. */
export function createTails({ databases, feeds, ...on }: TailsOptions) {
  const holder = randomUUID();
  const tails = databases.clusters.map((cluster) => {
    return createTail({
      ...{ ...on, cluster, holder, control: databases.control.name },
      recorder: recorderOf({ ...on, cluster, databases, feeds }),
      client: () => databases.streams(cluster),
      now: () => databases.timeOf(cluster),
    });
  });
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
