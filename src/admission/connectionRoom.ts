import type { Socket } from 'node:net';
import { addressBucket, plainAddress } from '../auth/addresses';

/** Above this share of the maximum, each new connection closes the longest-idle one, so that idle connections lock nobody out. */
const CROWDED = 4 / 5;
/** Share of the maximum that one address may use, and connections it may have in any case. */
const [SHARE, MIN_PER_ADDRESS] = [1 / 2, 100];

export interface RoomOptions {
  /** Maximum connections. The server's own maxConnections would not close idle ones. */
  readonly most: number;
  /** Whether many callers may share an address, such as that of a proxy. */
  readonly isShared: boolean;
  /** Called for each idle connection that is closed. */
  readonly onEvicted: () => void;
  /** Called for each new connection that is closed. */
  readonly onDropped: () => void;
}

/** Keeps room among a server's connections for new ones. */
export function keepRoom({ most, isShared, onEvicted, onDropped }: RoomOptions) {
  const addresses = new Map<Socket, string>();
  const open = new Map<string, number>();
  /** Idle connections, the longest-idle first. */
  const idle = new Set<Socket>();

  function evict(matches: (socket: Socket) => boolean): boolean {
    for (const socket of idle) {
      if (!matches(socket)) continue;
      idle.delete(socket);
      socket.destroy();
      onEvicted();
      return true;
    }
    return false;
  }

  function leave(socket: Socket, address: string): void {
    addresses.delete(socket);
    idle.delete(socket);
    const others = (open.get(address) ?? 1) - 1;
    if (others === 0) open.delete(address);
    else open.set(address, others);
  }

  return {
    /** Makes room for a connection; closes it and returns false if the total or its address is full. */
    enter(socket: Socket): boolean {
      const address = isShared ? '' : addressBucket(plainAddress(socket.remoteAddress ?? ''));
      const isFull = addresses.size >= most;
      const hasFullShare = !isShared && (open.get(address) ?? 0) >= Math.max(MIN_PER_ADDRESS, most * SHARE);
      if (isFull || (hasFullShare && !evict((one) => addresses.get(one) === address))) {
        socket.destroy();
        onDropped();
        return false;
      }
      if (addresses.size >= Math.ceil(most * CROWDED)) evict(() => true);
      addresses.set(socket, address);
      open.set(address, (open.get(address) ?? 0) + 1);
      idle.add(socket);
      socket.once('close', () => {
        leave(socket, address);
      });
      return true;
    },
    busy: (socket: Socket): void => void idle.delete(socket),
    idle: (socket: Socket): void => {
      if (!socket.destroyed) idle.add(socket);
    },
  };
}
