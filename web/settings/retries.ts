import { tell } from './notices';

/*
 * What could not be read because the gateway was away is read again by itself, after a while and as soon as the computer is online; and once one
 * part can be read, so are the others. One notice says so.
 */

/** How long until it is tried again, in milliseconds. */
const EVERY = 15_000;

/** How to read each again, by who reads it, in the order in which they failed. */
const lost = new Map<object, () => unknown>();
let isReading = false;

/** `reason` says why it could not be read. */
export function noteLost(owner: object, again: () => unknown, reason: string): void {
  lost.set(owner, again);
  tell('gateway', {
    text: `${reason} This page tries again by itself every ${EVERY / 1000} seconds.`,
    button: { text: 'Try again now', does: readLost },
  });
}

/** Forgets what is read or no longer wanted; returns whether it was lost. */
export function noteFound(owner: object): boolean {
  const wasLost = lost.delete(owner);
  if (lost.size === 0) tell('gateway');
  return wasLost;
}

/** Reads one after another, so that a gateway that comes back is not asked for all at once, until one is lost again. */
export async function readLost(): Promise<void> {
  if (isReading) return;
  isReading = true;
  try {
    for (const [owner, again] of lost) {
      await again();
      if (lost.has(owner)) break;
    }
  } finally {
    isReading = false;
  }
}

addEventListener('online', () => void readLost());
setInterval(() => {
  if (!document.hidden) void readLost();
}, EVERY);
