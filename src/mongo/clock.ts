import type { mongo } from 'mongoose';

/*
 * The time of the database, which decides what has expired: the clocks of gateways can be hours apart, but they share one database. It is
 * measured with `hello` and carried forward by this process's monotonic clock, so that setting this machine's clock changes nothing.
 */

/** A clock that is off by this much is reported as wrong, in the log and by doctor, in milliseconds. */
export const WRONG_BY = 30_000;
/** A measurement that took this much longer than the last one tells less of the time, and is dropped unless the last one is `OLD`; both in milliseconds, estimated. */
const SLOW = 200;
const OLD = 60_000;

/** What a server says of itself: the members of MongoDB's `hello` that are used here. */
export interface Hello {
  readonly localTime?: Date;
  /** Its address (host:port) in its set; mongos has none. */
  readonly me?: string;
  readonly setName?: unknown;
  /** Of a member whose set is not initiated. */
  readonly isreplicaset?: unknown;
  readonly isWritablePrimary?: unknown;
  readonly msg?: unknown;
  /** Members of its set that hold data and can become primary, and those that cannot; without hidden ones. */
  readonly hosts?: readonly string[];
  readonly passives?: readonly string[];
}

export const isMongos = ({ msg }: Hello): boolean => msg === 'isdbgrid';

interface Measurement {
  /** The server's time when performance.now() was `at`. */
  readonly time: number;
  readonly at: number;
  /** How long its answer took, in milliseconds. */
  readonly took: number;
  readonly machine: string;
}

export function createClock() {
  let last: Measurement | undefined;

  const now = (): number => (last ? last.time + performance.now() - last.at : Date.now());
  return {
    /** The time of the primary, or of mongos, in milliseconds since 1970; this machine's before the first measurement. */
    now,
    /** How far the primary is ahead of this machine, in milliseconds, and which machine that is; undefined before the first measurement. */
    difference: () => last && { ahead: now() - Date.now(), machine: last.machine },
    /** Resolves with the server's answer. @throws the driver's error */
    async measure(client: mongo.MongoClient): Promise<Hello> {
      const sentAt = performance.now();
      const hello = (await client.db('admin').command({ hello: 1 })) as Hello;
      const { localTime, me } = hello;
      const at = performance.now();
      const took = at - sentAt;
      const isWorse = last !== undefined && took > last.took + SLOW && at - last.at < OLD;
      if (!(localTime instanceof Date) || isWorse) return hello;
      // the server wrote its answer about half of that time ago
      last = {
        time: localTime.getTime() + took / 2,
        at,
        took,
        machine: me ?? (isMongos(hello) ? 'mongos' : 'its primary'),
      };
      return hello;
    },
  };
}
