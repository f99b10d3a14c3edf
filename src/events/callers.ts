import type { KeyPrincipal, Organisation } from '../auth/principal';
import type { Recording, WantedEvents } from './page';
import type { EventStream, ReadEvents } from './stream';

/* What a request needs to know of the events of its organisation, and what they need to know of it. */

export interface EventSource extends Recording {
  /** The time of the organisation's cluster (ms) up to which all events are stored; undefined while none are being recorded. */
  recordingAt(): Promise<number | undefined>;
  /**
   * Looks again whenever there is an event that is wanted, until `look` resolves with true, the time (ms) is over, the gateway drains,
   * or the caller has left.
   * @throws what `look` does; AppError rate_limited or unavailable if too many wait, unauthenticated if the key was revoked meanwhile
   */
  wait(longest: number, wanted: WantedEvents, look: () => Promise<boolean>): Promise<void>;
  /**
   * Follows events after a position: those that `read` finds, and then each as it is stored.
   * @throws AppError rate_limited or unavailable if there are too many streams, or the gateway drains
   */
  follow(wanted: WantedEvents, after: string, read: ReadEvents): EventStream;
}

/** Runs a wait with a signal that aborts when the caller leaves; until it ends the request takes no place from others. */
export type Hold = <T>(wait: (gone: AbortSignal) => Promise<T>) => Promise<T>;

/** A caller that may wait for events. */
export interface WaitingCaller {
  readonly principal: KeyPrincipal;
  /** Network address. */
  readonly address: string;
  /** Authenticates it again. @throws AppError if it may no longer call */
  readonly recheck: () => Promise<Organisation>;
  /** Takes points. @throws AppError rate_limited if there are not enough */
  readonly charge: (points: number) => Promise<void>;
  readonly hold: Hold;
}
