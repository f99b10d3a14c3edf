import type { Socket } from 'node:net';
import { addressBucket, plainAddress } from '../auth/addresses';
import { connectionLimits } from '../limits';
import { createShares } from '../async/shares';

/** From this share of the maximum on, each new connection closes the longest-idle one, so that a burst still finds room. Chosen. */
const CROWDED = 4 / 5;

export interface ConnectionLimitOptions {
  /** Maximum connections. The server's own maxConnections would not close idle ones. */
  readonly most: number;
  /** Whether many callers may share an address, such as that of a proxy. */
  readonly isShared: boolean;
  /** Called for each idle connection that is closed to make room. */
  readonly onEvicted: () => void;
  /** Called for each new connection that is refused. */
  readonly onDropped: () => void;
}

/** Limits a server's connections, so that new ones are possible. */
export function createConnectionLimit({ most, isShared, onEvicted, onDropped }: ConnectionLimitOptions) {
  const addresses = new Map<Socket, string>();
  const shares = createShares(connectionLimits(most, isShared));
  /** Idle connections, the longest-idle first: a Set keeps the order in which they were added. */
  const idleSockets = new Set<Socket>();

  /** Closes the longest-idle connection that matches. Returns false if none does. */
  function evict(matches: (socket: Socket) => boolean): boolean {
    for (const socket of idleSockets) {
      if (!matches(socket)) continue;
      idleSockets.delete(socket);
      socket.destroy();
      onEvicted();
      return true;
    }
    return false;
  }

  return {
    /** Admits a connection; closes it and returns false if all, or those of its address, are too many and none of them is idle. */
    enter(socket: Socket): boolean {
      const address = addressBucket(plainAddress(socket.remoteAddress ?? ''));
      const full = shares.exceeded({ caller: address });
      const isCrowded = shares.held('all') >= Math.ceil(most * CROWDED);
      const isEvictable = (other: Socket): boolean => full !== 'caller' || addresses.get(other) === address;
      const hasEvicted = (full !== undefined || isCrowded) && evict(isEvictable);
      if (full !== undefined && !hasEvicted) {
        socket.destroy();
        onDropped();
        return false;
      }
      addresses.set(socket, address);
      idleSockets.add(socket);
      const leave = shares.hold({ caller: address });
      socket.once('close', () => {
        leave();
        addresses.delete(socket);
        idleSockets.delete(socket);
      });
      return true;
    },
    /** Notes that a request has arrived on a connection. */
    busy: (socket: Socket): void => void idleSockets.delete(socket),
    /** Notes that a connection has no more requests. */
    idle: (socket: Socket): void => {
      if (!socket.destroyed) idleSockets.add(socket);
    },
  };
}
