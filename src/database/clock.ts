import type { Connection, mongo } from 'mongoose';

/*
 * The time of a cluster, which decides what has expired: gateways can be hours apart, their database is one. Measured by
 * `hello`, and carried on by this process's monotonic clock, so that setting this machine's clock changes nothing.
 */

/** From this difference on, a clock is reported as wrong, in milliseconds. */
export const WRONG_FROM = 30_000;
/** A measurement that took this much longer than the last is worse, and used only if that is old; in milliseconds. */
const SLOW = 200;
const OLD = 60_000;

export interface ClusterClock {
  /** The time of its primary, in milliseconds since 1970; this machine's until it was measured. */
  now(): number;
  /** How far its primary is ahead of this machine now, in milliseconds; undefined until it was measured. */
  ahead(): number | undefined;
  /** The member that was measured, as host:port. */
  machine(): string | undefined;
  /** Asks the primary for its time. @throws the driver's error */
  measure(client: mongo.MongoClient): Promise<void>;
}

interface Measurement {
  /** The member's time at `at`, which is by performance.now(). */
  readonly time: number;
  readonly at: number;
  readonly took: number;
  readonly machine: string | undefined;
}

export function createClock(): ClusterClock {
  let last: Measurement | undefined;

  const now = (): number => (last ? last.time + performance.now() - last.at : Date.now());

  function isWorse(took: number, at: number): boolean {
    return last !== undefined && took > last.took + SLOW && at - last.at < OLD;
  }

  return {
    now,
    ahead: () => last && now() - Date.now(),
    machine: () => last?.machine,
    async measure(client) {
      const asked = performance.now();
      const { localTime, me } = (await client.db('admin').command({ hello: 1 })) as { localTime?: Date; me?: string };
      const at = performance.now();
      const took = at - asked;
      if (!(localTime instanceof Date) || isWorse(took, at)) return;
      // the answer was written about half the time ago
      last = { time: localTime.getTime() + took / 2, at, took, machine: me };
    },
  };
}

/** Clocks by the client that is connected to their cluster. */
const clocks = new WeakMap<object, ClusterClock>();

export function setClock(client: mongo.MongoClient, clock: ClusterClock): void {
  clocks.set(client, clock);
}

/** The time of the cluster of a connection, in milliseconds since 1970. */
export function timeOf(connection: Connection): number {
  return clocks.get(connection.getClient())?.now() ?? Date.now();
}
