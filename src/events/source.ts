import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import { AppError } from '../errors';
import { SECOND } from '../units';
import type { EventSource, WaitingCaller } from './callers';
import { readTail, type TailRow, tailRows } from './tail/lease';
import type { Waiting } from './waiting';

/** How long a reading of a tail's row is used, in milliseconds. An older one is true as well: it only says less. */
const USED_FOR = 500;

export interface SourceOptions {
  /** The client of a cluster for change streams. @throws if it does not respond */
  readonly streams: (cluster: string) => Promise<mongo.MongoClient>;
  /** Name of the control database. */
  readonly control: string;
  /** The time of a cluster, in milliseconds since 1970. */
  readonly timeOf: (cluster: string) => number;
  readonly waiting: Pick<Waiting, 'wait' | 'follow'>;
}

/** The events of callers' organisations: one query in {@link USED_FOR} ms a cluster tells all requests how far its tail is. */
export function createEventSource({
  streams,
  control,
  timeOf,
  waiting,
}: SourceOptions): (caller: WaitingCaller) => EventSource {
  const readings = new LRUCache<string, Promise<TailRow | null>>({ max: 1000, ttl: USED_FOR });

  function reading(cluster: string): Promise<TailRow | null> {
    let found = readings.get(cluster);
    if (!found) {
      found = streams(cluster).then((client) => readTail(tailRows(client, control)));
      readings.set(cluster, found);
      found.catch(() => readings.delete(cluster));
    }
    return found;
  }

  return (caller) => ({
    async recordedUntil() {
      const row = await reading(caller.principal.organisation.cluster);
      if (!row) throw notRecorded('Events are not recorded yet: no gateway has read the log of the database.');
      if (row.fault !== undefined)
        throw notRecorded('Events are not recorded: the log of the database cannot be read.');
      return row.at;
    },
    async recordingAt() {
      const { cluster } = caller.principal.organisation;
      const row = await reading(cluster).catch(() => undefined);
      const isRecorded = row?.fault === undefined && row && row.until.getTime() > timeOf(cluster);
      return isRecorded && row.at ? row.at.t * SECOND : undefined;
    },
    wait: waiting.wait.bind(undefined, caller),
    follow: waiting.follow.bind(undefined, caller),
  });
}

function notRecorded(detail: string): AppError {
  return new AppError('unavailable', detail, { reason: 'not_recorded' });
}
