import type { mongo } from 'mongoose';

/** Use of a client's connections, now and since its start. */
export type PoolUse = ReturnType<ReturnType<typeof createPoolWatch>['use']>;

/** Upper bounds of the duration of a command, in seconds. */
export const COMMAND_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export interface Durations {
  /** Commands in each bucket, not counting those in the buckets before it; the last has those above all bounds. */
  readonly counts: readonly number[];
  /** Sum, in seconds. */
  readonly seconds: number;
}

/**
 * Tracks a client's pools (one per server) through the driver's events. Every command emits three events, so the handlers only count. A
 * connection is checked out for one command, so the time that it is out is taken as the command's duration: the driver's command monitoring
 * would also copy each command and its reply into events.
 */
export function createPoolWatch() {
  const open = new Set<string>();
  /** When the command on each connection that is checked out began. */
  const began = new Map<string, number>();
  const counts = new Array<number>(COMMAND_BUCKETS.length + 1).fill(0);
  let checkedOut = 0;
  let pending = 0;
  let lostAt = -Infinity;
  let seconds = 0;
  let most = Infinity;

  /** Notes that the command on a connection has ended. */
  function noteEnd(connection: string): void {
    const start = began.get(connection);
    if (start === undefined) return;
    began.delete(connection);
    const took = (performance.now() - start) / 1000;
    const at = COMMAND_BUCKETS.findIndex((bound) => took <= bound);
    const bucket = at === -1 ? COMMAND_BUCKETS.length : at;
    counts[bucket] = (counts[bucket] ?? 0) + 1;
    seconds += took;
  }

  const name = ({ address, connectionId }: { address: string; connectionId: number | '<monitor>' }): string =>
    `${address} ${String(connectionId)}`;
  return {
    /** Watches the pools of the client; to be called once, before its first command. */
    watch(client: mongo.MongoClient): void {
      // 0 means no limit
      most = client.options.maxPoolSize || Infinity;
      client
        .on('connectionReady', (event) => open.add(name(event)))
        .on('connectionClosed', (event) => {
          open.delete(name(event));
          began.delete(name(event));
        })
        .on('connectionCheckOutStarted', () => (pending += 1))
        .on('connectionCheckOutFailed', () => (pending -= 1))
        .on('connectionCheckedOut', (event) => {
          pending -= 1;
          checkedOut += 1;
          began.set(name(event), performance.now());
        })
        .on('connectionCheckedIn', (event) => {
          checkedOut -= 1;
          noteEnd(name(event));
        })
        // the driver clears a pool once it has lost the server
        .on('connectionPoolCleared', () => (lostAt = performance.now()));
    },
    use: () => ({
      checkedOut,
      available: Math.max(0, open.size - checkedOut),
      /** Commands waiting for a connection. */
      pending,
      /** Connections allowed to each server (maxPoolSize of the URI); infinite without a limit. */
      most,
      /** How long commands took. */
      commands: { counts: [...counts], seconds } satisfies Durations,
    }),
    /**
     * When one of its pools was last cleared, by performance.now(); -Infinity if never. Of any server, since nobody knows which one a command
     * was written to.
     */
    lostAt: (): number => lostAt,
  };
}
