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

/** Follows a cluster's pools (one for each server of its replica set) by the driver's events. */
export function watchPool(cluster: string, connection: Connection): PoolWatch {
  const [open, checkedOut] = [new Set<string>(), new Set<string>()];
  let [pending, lostAt] = [0, -Infinity];
  const name = ({ address, connectionId }: { address: string; connectionId: number | '<monitor>' }): string =>
    `${address} ${String(connectionId)}`;
  connection
    .getClient()
    .on('connectionReady', (event) => open.add(name(event)))
    .on('connectionClosed', (event) => {
      open.delete(name(event));
      checkedOut.delete(name(event));
    })
    .on('connectionCheckOutStarted', () => (pending += 1))
    .on('connectionCheckOutFailed', () => (pending -= 1))
    .on('connectionCheckedOut', (event) => {
      pending -= 1;
      // one that was opened before anyone listened is new here
      open.add(name(event));
      checkedOut.add(name(event));
    })
    .on('connectionCheckedIn', (event) => checkedOut.delete(name(event)))
    .on('connectionPoolCleared', () => (lostAt = performance.now()));
  return {
    use: () => ({ cluster, checkedOut: checkedOut.size, available: open.size - checkedOut.size, pending }),
    lostAt: () => lostAt,
  };
}
