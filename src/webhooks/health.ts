import type { Progress } from '../organisations/webhookLeases';
import type { DisabledReason, EndpointRow } from '../organisations/webhookRows';
import type { Attempt } from './post';
import { POSTS } from '../limits';
import { ATTEMPT_WAITS, ENDPOINT_DISABLED_AFTER, ENDPOINT_FAILING_AFTER } from '../units';

/*
 * The health of an endpoint, judged by the attempts during one lease. After failures of several objects in a row it is failing: only its oldest
 * event is sent then, as a probe, until one succeeds.
 */

/** Objects whose events are sent at once, at most: an organisation has no more posts. */
const MAX_WIDTH = POSTS.organisation;

export type Health = ReturnType<typeof createHealth>;

/** How the operator's own endpoint is treated, which nobody could enable again. */
export interface Lenience {
  /** The longest wait before the next probe, in milliseconds. */
  readonly longestProbe: number;
}

/** Begins with what the row says; what comes of the attempts is in `progress`, to be stored. `now` is the database's time. With `lenience` an endpoint is never disabled. */
export function createHealth(row: EndpointRow, now: () => number, lenience?: Lenience) {
  let { state, last_success_at, probes } = row;
  let failing_since = failingSince(row);
  const failed = new Set(row.failed);
  // for how many objects events are sent at once: cautious after a failure, then doubled by every success
  let width = failed.size > 0 ? 1 : 2;
  let disable: DisabledReason | undefined;
  let restUntil: number | undefined;

  return {
    noteSuccess(): void {
      if (state === 'failing') state = 'enabled';
      failed.clear();
      failing_since = null;
      probes = 0;
      // by the database's clock, since gateways' clocks can be hours apart
      last_success_at = new Date(now());
      width = Math.min(MAX_WIDTH, width * 2);
    },
    /** `object` is the key of its lane, which is an empty text for events without an object. */
    noteFailure(object: string, { status, retryAfter }: Attempt): void {
      width = 1;
      if (failed.size < ENDPOINT_FAILING_AFTER) failed.add(object);
      failing_since ??= new Date(now());
      if (state === 'failing') probes += 1;
      else if (failed.size >= ENDPOINT_FAILING_AFTER) state = 'failing';
      if (status === 410) disable = 'gone';
      else if (now() - failing_since.getTime() >= ENDPOINT_DISABLED_AFTER) disable = 'failures';
      if (retryAfter !== undefined) restUntil = Math.max(restUntil ?? 0, now() + retryAfter);
    },
    /** Forgets failures, once there is no event left to probe with. */
    forget(): void {
      state = 'enabled';
      failed.clear();
      failing_since = null;
      probes = 0;
    },
    /** For how many objects events may be sent at once. */
    width: (): number => width,
    isFailing: (): boolean => state === 'failing',
    /** How many probes have failed, over all leases since the last success. */
    probes: (): number => probes,
    /** How long to wait before the next probe. */
    probeWait: (): number => Math.min(lenience?.longestProbe ?? Infinity, probeAfter(probes)),
    /** Why the endpoint is to be disabled; undefined if it is not. */
    disable: (): DisabledReason | undefined => (lenience ? undefined : disable),
    /** The end of the pause that the receiver asked for, in milliseconds since 1970. */
    restUntil: (): number | undefined => restUntil,
    progress: (): Progress => ({ state, failed: [...failed], failing_since, probes, last_success_at }),
  };
}

/** Since when an endpoint has failed without a pause; null once nothing is parked: all that failed was given up, and nothing was sent since. */
export const failingSince = ({ parked, failing_since }: EndpointRow): Date | null =>
  parked > 0 ? failing_since : null;

/** Maximum share of a wait that is added at random, so that events that failed together are not retried together. */
const JITTER = 0.1;

/** How long to wait after this many attempts, in milliseconds; undefined after the last. */
export function waitAfter(attempts: number): number | undefined {
  const step = ATTEMPT_WAITS[attempts];
  return step === undefined ? undefined : step * (1 + JITTER * Math.random());
}

/** How long to wait before the next probe of a failing endpoint: there is always another, until it is disabled. */
const probeAfter = (probes: number): number => waitAfter(Math.min(probes + 1, ATTEMPT_WAITS.length - 1)) ?? 0;
