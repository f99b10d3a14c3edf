import type { Connection } from 'mongoose';

/** Use of one cluster's connections. */
export interface PoolUse {
  readonly cluster: string;
  /** Connections that carry a command. */
  readonly checkedOut: number;
  /** Open connections that carry none. */
  readonly available: number;
  /** Commands that wait for a connection. */
  readonly pending: number;
}

interface PoolWatch {
  use(): PoolUse;
  /** When its connections to a server were last given up, by performance.now(); -Infinity when they never were. */
  lostAt(): number;
}

/**
 * Follows a cluster's pools (one for each server of its replica set) by the driver's events, so from before the first of
 * them. Every command makes three, so those only count; the driver gives back whatever it took out.
 */
export function watchPool(cluster: string, connection: Connection): PoolWatch {
  const open = new Set<string>();
  let [checkedOut, pending, lostAt] = [0, 0, -Infinity];
  const name = ({ address, connectionId }: { address: string; connectionId: number | '<monitor>' }): string =>
    `${address} ${String(connectionId)}`;
  connection
    .getClient()
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
  return {
    use: () => ({ cluster, checkedOut, available: Math.max(0, open.size - checkedOut), pending }),
    lostAt: () => lostAt,
  };
}
