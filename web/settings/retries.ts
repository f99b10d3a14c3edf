import { tell } from './notices';

/*
 * Retries what could not be read because the gateway was unreachable: every 15 seconds, when the computer comes online, and as soon as
 * anything else can be read. One notice says so.
 */

/** Time between retries, in milliseconds. */
const EVERY = 15_000;

/** Retries by reader, in the order in which they failed last. */
const lost = new Map<object, () => unknown>();
let isReading = false;

/** `reason` says why the read failed. */
export function noteLost(owner: object, again: () => unknown, reason: string): void {
  // to the end, or one that always fails would keep those after it from being tried
  lost.delete(owner);
  lost.set(owner, again);
  tell('gateway', {
    text: `${reason} This page tries again by itself every ${EVERY / 1000} seconds.`,
    button: { text: 'Try again now', does: readLost },
  });
}

/** Drops a retry that succeeded or is no longer wanted; returns whether there was one. */
export function noteFound(owner: object): boolean {
  const wasLost = lost.delete(owner);
  if (lost.size === 0) tell('gateway');
  return wasLost;
}

/** Retries one at a time, so that a recovering gateway is not flooded, and stops at the first failure. */
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
