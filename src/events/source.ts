import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import type { Databases } from '../database/connect';
import { AppError } from '../errors';
import { readTail, type TailRow, tailRows } from './tail/lease';
import type { Recording } from './page';
import type { Waiting, WaitingCaller } from './waiting';

/** How long a tail's row is cached, in milliseconds. A stale row is still true: the tail only moves forward. */
const CACHED_FOR = 200;

export type EventSource = ReturnType<ReturnType<typeof createEventSource>>;

/** The events of callers' organisations. How far events are recorded is read at most once per cluster and {@link CACHED_FOR} ms. */
export function createEventSource(
  { streams, timeOf, control }: Pick<Databases, 'streams' | 'timeOf' | 'control'>,
  waiting: Pick<Waiting, 'wait' | 'follow'>,
) {
  const readings = new LRUCache<string, Promise<TailRow | null>>({
    ...{ max: 1000, ttl: CACHED_FOR },
    memoMethod: (cluster) => {
      const found = streams(cluster).then((client) => readTail(tailRows(client, control.name)));
      found.catch(() => readings.delete(cluster));
      return found;
    },
  });

  return (caller: WaitingCaller) => {
    const { cluster } = caller.principal.organisation;
    const recorded: Recording = {
      async recordedUntil() {
        const row = await readings.memo(cluster);
        if (!row) throw notRecorded('Events are not recorded yet: no gateway has read the log of the database.');
        if (row.fault !== undefined)
          throw notRecorded('Events are not recorded: the log of the database cannot be read.');
        return row.at;
      },
    };
    return {
      ...recorded,
      /** The time of the organisation's cluster up to which all events are stored; undefined while none are being recorded. */
      async recordedAt(): Promise<mongo.Timestamp | undefined> {
        const row = await readings.memo(cluster).catch(() => undefined);
        const isRecorded = row?.fault === undefined && row && row.until.getTime() > timeOf(cluster);
        return isRecorded ? row.at : undefined;
      },
      wait: waiting.wait.bind(undefined, caller),
      follow: waiting.follow.bind(undefined, caller),
    };
  };
}

function notRecorded(detail: string): AppError {
  return new AppError('unavailable', detail, { reason: 'not_recorded' });
}
