import { SECOND } from '../units';
import { NoAnswerError, within } from '../async/timeout';

/*
 * Tracks whether a database responds. Requests for one that does not are rejected at once, so that memory does not grow
 * (docs/decisions/database-away.md). Also tracks whether it responds but refuses writes, because a disk is full or locked or too
 * many members are down: that is only reported, and no request is rejected.
 */

/** How often it is checked, and how often while it does not respond, in milliseconds. */
const CHECK_EVERY = 5000;
const ASK_AGAIN = 200;
/** How often a write is tried, and how often after a failure until one succeeds, in milliseconds. */
const WRITE_EVERY = 10 * SECOND;
const WRITE_AGAIN = SECOND;
/** How long a write may take, in milliseconds. */
const WRITTEN_WITHIN = 3 * SECOND;

export type Availability = ReturnType<typeof createAvailability>;

export interface AvailabilityOptions {
  /** Whether it responds now. Must not reject. */
  readonly answers: () => Promise<boolean>;
  /** Called when it stops responding, and when it responds again. */
  readonly onChange: (isDown: boolean) => void;
  /** Writes something to it. Must settle, as the driver's socket timeout ensures: after failures the next write waits for it. @throws why it cannot be written to */
  readonly write: () => Promise<unknown>;
  /** Called with the error when writes fail, and with undefined when they succeed again. */
  readonly onWrites: (failure: unknown) => void;
  /** How often to check and to write, in milliseconds; Infinity for never. */
  readonly checkEvery?: number;
  readonly writeEvery?: number;
}

export function createAvailability(options: AvailabilityOptions) {
  const { answers, onChange, write, onWrites, checkEvery = CHECK_EVERY, writeEvery = WRITE_EVERY } = options;
  const timers = new Map<'check' | 'write', NodeJS.Timeout>();
  let isDown = false;
  let isReadOnly = false;
  let isStopped = false;
  let checking: Promise<boolean> | undefined;

  /** Checks whether it responds now. Concurrent calls share one check. */
  function ask(): Promise<boolean> {
    return (checking ??= check().finally(() => (checking = undefined)));
  }

  async function check(): Promise<boolean> {
    const isAvailable = await answers();
    // nothing follows from the answer then, since its connections may have been closed
    if (isStopped) return isAvailable;
    if (isDown !== !isAvailable) {
      isDown = !isAvailable;
      onChange(isDown);
    }
    schedule('check', isAvailable ? checkEvery : ASK_AGAIN, ask);
    return isAvailable;
  }

  /** Tries a write, and schedules the next; `failuresBefore` is how many have failed in a row. */
  async function tryWriting(failuresBefore = 0): Promise<void> {
    let failures = 0;
    // a database that does not respond is down, not read-only
    if (!isDown) {
      const writing = write();
      try {
        await within(WRITTEN_WITHIN, writing);
        if (isReadOnly) {
          isReadOnly = false;
          onWrites(undefined);
        }
      } catch (error) {
        if (isStopped) return;
        failures = (await ask()) ? failuresBefore + 1 : 0;
        // a single failure may be an election or a busy machine
        if (failures > 1 && !isReadOnly) {
          isReadOnly = true;
          onWrites(error);
        }
        // from the second failure on one at a time, since a write that hangs keeps its connection
        if (failures > 1 && error instanceof NoAnswerError) await writing.catch(() => undefined);
      }
    }
    schedule('write', failures > 0 || isReadOnly ? WRITE_AGAIN : writeEvery, () => tryWriting(failures));
  }

  /** Does work after a while, instead of what was scheduled under the name before. */
  function schedule(name: 'check' | 'write', ms: number, work: () => Promise<unknown>): void {
    clearTimeout(timers.get(name));
    if (!isStopped && ms < Infinity) timers.set(name, setTimeout(() => void work(), ms).unref());
  }

  return {
    /** Whether it did not respond when it was last checked. */
    isDown: (): boolean => isDown,
    /** Whether it responds but refused the last writes. */
    isReadOnly: (): boolean => isReadOnly && !isDown,
    /** Checks it now. Resolves with whether it responds. */
    ask,
    /** Checks it now, and from then on checks and writes regularly. To be called once. */
    async start(): Promise<void> {
      schedule('write', writeEvery, tryWriting);
      await ask();
    },
    stop(): void {
      isStopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
