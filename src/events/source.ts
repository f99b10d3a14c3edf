import type { mongo } from 'mongoose';
import type { Databases } from '../tenant/databases';
import { AppError } from '../errors';
import { isRecordingOff, readTailWithTime } from './tail/lease';
import type { Recording } from './page';
import type { Waiting, WaitingCaller } from './waiting';

/**
 * How long the row of the tail (which records events, events/tail) is cached, in milliseconds. A stale row is still true: the tail only moves
 * forward.
 */
const CACHED_FOR = 200;

export type EventSource = ReturnType<ReturnType<typeof createEventSource>>;

/** The events of callers' organisations. How far events are recorded is read at most once in {@link CACHED_FOR} ms. */
export function createEventSource(
  databases: Pick<Databases, 'streams' | 'now' | 'control'>,
  waiting: Pick<Waiting, 'wait' | 'follow'>,
) {
  let last: { readonly at: number; readonly tail: ReturnType<typeof readTailWithTime> } | undefined;

  function readCached(): ReturnType<typeof readTailWithTime> {
    if (last && performance.now() < last.at + CACHED_FOR) return last.tail;
    const reading = { at: performance.now(), tail: readTailWithTime(databases) };
    reading.tail.catch(() => {
      if (last === reading) last = undefined;
    });
    last = reading;
    return reading.tail;
  }

  return (caller: WaitingCaller) => {
    const recorded: Recording = {
      // without a look at the lease: while nobody records, what is stored is served
      async recordedUntil() {
        const { row, time } = await readCached();
        if (!row) throw notRecorded('Events are not recorded yet: no gateway has read the log of the database.');
        if (row.fault !== undefined)
          throw notRecorded('Events are not recorded: the log of the database cannot be read.');
        return { until: row.at, time };
      },
    };
    return {
      ...recorded,
      /** The cluster time up to which all events are stored; `off` if none are being recorded; undefined if unknown. */
      async recordedAt(): Promise<mongo.Timestamp | 'off' | undefined> {
        const read = await readCached().catch(() => undefined);
        if (read === undefined) return undefined;
        const { row } = read;
        return row === null || isRecordingOff(row, databases.now()) ? 'off' : row.at;
      },
      wait: waiting.wait.bind(undefined, caller),
      follow: waiting.follow.bind(undefined, caller),
    };
  };
}

function notRecorded(detail: string): AppError {
  return new AppError('unavailable', detail, { reason: 'not_recorded' });
}
