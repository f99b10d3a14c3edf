import type { mongo } from 'mongoose';

/** Use of one cluster's connections. */
export interface PoolUse {
  readonly cluster: string;
  /** Connections in use. */
  readonly checkedOut: number;
  /** Idle connections. */
  readonly available: number;
  /** Commands waiting for a connection. */
  readonly pending: number;
}

export type PoolWatch = ReturnType<typeof watchPool>;

/**
 * Tracks a cluster's pools (one per server in its replica set) through the driver's events. Every command emits three
 * events, so the handlers only count.
 */
export function watchPool(cluster: string) {
  const open = new Set<string>();
  let [checkedOut, pending, lostAt] = [0, 0, -Infinity];
  const name = ({ address, connectionId }: { address: string; connectionId: number | '<monitor>' }): string =>
    `${address} ${String(connectionId)}`;
  return {
    /** Watches the pools of a client; call it before its first command. */
    watch(client: mongo.MongoClient): void {
      client
        .on('connectionReady', (event) => open.add(name(event)))
        .on('connectionClosed', (event) => open.delete(name(event)))
        .on('connectionCheckOutStarted', () => (pending += 1))
        .on('connectionCheckOutFailed', () => (pending -= 1))
        .on('connectionCheckedOut', () => {
          pending -= 1;
          checkedOut += 1;
        })
        .on('connectionCheckedIn', () => (checkedOut -= 1))
        .on('connectionPoolCleared', () => (lostAt = performance.now()));
    },
    use: (): PoolUse => ({ cluster, checkedOut, available: Math.max(0, open.size - checkedOut), pending }),
    /** When its pool was last cleared, by performance.now(); -Infinity if never. */
    lostAt: (): number => lostAt,
  };
}
