import { AppError } from '../errors';
import type { WaitingCaller } from './callers';

/*
 * Reads the keys of waiting requests and open streams again. Those of one key and address share one read, however many they are; other
 * addresses need their own, since a key may be withdrawn from one of them only.
 */

/** How often each is read, in milliseconds. */
const EVERY = 2000;
/** A stream goes on this long (ms) while its key cannot be read, which may be revoked by now. */
const UNKNOWN_FOR = 30_000;

const MOVED = 'The organisation has moved to another cluster of databases.';
const UNKNOWN = 'The key of this stream could not be checked for 30 s.';

/** A wait that ends when its key does. */
export interface Checked {
  readonly caller: WaitingCaller;
  readonly isStream: boolean;
  readonly fail: (error: unknown) => void;
}

interface Check {
  /** When the key was last known to be valid. */
  knownAt: number;
  isReading: boolean;
}

const callerId = ({ caller }: Checked): string => `${caller.principal.key.id} ${caller.address}`;

/** `clock` is in milliseconds. */
export function createRechecks(clock: () => number = () => performance.now()) {
  const checks = new Map<string, Check>();
  let checkedAt = 0;

  async function read(check: Check, { recheck }: WaitingCaller, sameCaller: () => readonly Checked[]): Promise<void> {
    check.isReading = true;
    try {
      const { cluster } = await recheck();
      check.knownAt = clock();
      // a request ends soon enough by itself
      for (const { caller, isStream, fail } of sameCaller())
        if (isStream && caller.principal.organisation.cluster !== cluster)
          fail(new AppError('unavailable', MOVED, { reason: 'moving' }));
    } catch (error) {
      // while the database is away nothing is known of the key
      if (error instanceof AppError && error.status < 500) for (const { fail } of sameCaller()) fail(error);
    } finally {
      check.isReading = false;
    }
  }

  /** Reads the keys of all that wait, unless it did so just now. */
  function look(all: () => Iterable<Checked>): void {
    const now = clock();
    if (now - checkedAt <= EVERY) return;
    checkedAt = now;
    const byCaller = new Map<string, Checked[]>();
    for (const one of all()) {
      const id = callerId(one);
      const before = byCaller.get(id);
      if (before) before.push(one);
      else byCaller.set(id, [one]);
    }
    for (const id of checks.keys()) if (!byCaller.has(id)) checks.delete(id);
    for (const [id, [first, ...others]] of byCaller) {
      if (!first) continue;
      const check = checks.get(id) ?? { knownAt: now, isReading: false };
      checks.set(id, check);
      if (now - check.knownAt > UNKNOWN_FOR)
        for (const { isStream, fail } of [first, ...others])
          if (isStream) fail(new AppError('unavailable', UNKNOWN, { reason: 'away' }));
      const sameCaller = (): Checked[] => [...all()].filter((one) => callerId(one) === id);
      if (!check.isReading) void read(check, first.caller, sameCaller);
    }
  }

  return {
    look,
    /** Forgets when keys were known to be valid: nothing waits, so nobody looks, and the next to wait has just shown its key. */
    forget: (): void => {
      checks.clear();
    },
  };
}
