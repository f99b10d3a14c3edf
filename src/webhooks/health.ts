import type { Progress } from '../organisations/webhookLeases';
import type { DisabledReason, EndpointRow } from '../organisations/webhookRows';
import type { Attempt } from './post';
import { HOUR, MINUTE } from '../units';

/* What the attempts of one lease say of an endpoint. */

const WIDEST = 8;

/** Whether the last attempt at an endpoint failed. */
export const hasFailed = ({ failed }: Pick<EndpointRow, 'failed'>): boolean => failed.length > 0;

/** What was learned of an endpoint while it was worked on. */
export type Health = ReturnType<typeof healthOf>;

export function healthOf(row: EndpointRow, now: () => number) {
  let { state, failing_since: failingSince, last_success_at: lastSuccess, probes } = row;
  const failed = new Set(row.failed);
  // cautious with one that failed last, and doubled with every success
  let width = failed.size > 0 ? 1 : 2;
  let disable: DisabledReason | undefined;
  let restUntil: number | undefined;

  return {
    noteSuccess(): void {
      if (state === 'failing') state = 'enabled';
      failed.clear();
      failingSince = null;
      probes = 0;
      // by the database's clock, since gateways can be hours apart
      lastSuccess = new Date(now());
      width = Math.min(WIDEST, width * 2);
    },
    noteFailure(object: string, { status, retryAfter }: Attempt): void {
      width = 1;
      if (failed.size < FAILING_AFTER) failed.add(object);
      failingSince ??= new Date(now());
      if (state === 'failing') probes += 1;
      else if (failed.size >= FAILING_AFTER) state = 'failing';
      if (status === 410) disable = 'gone';
      else if (now() - failingSince.getTime() >= DISABLED_AFTER) disable = 'failures';
      if (retryAfter !== undefined) restUntil = Math.max(restUntil ?? 0, now() + retryAfter);
    },
    /** Nothing is left that it could be tried with. */
    forget(): void {
      state = 'enabled';
      failed.clear();
      failingSince = null;
      probes = 0;
    },
    /** How many objects may be sent at the moment. */
    width: (): number => width,
    hasFailed: (): boolean => failed.size > 0,
    /** Whether only the oldest event is tried. */
    isFailing: (): boolean => state === 'failing',
    probes: (): number => probes,
    /** Why it must be disabled. */
    disable: (): DisabledReason | undefined => disable,
    /** Until when its receiver asked to be left alone, in milliseconds since 1970. */
    restUntil: (): number | undefined => restUntil,
    progress: (): Progress => ({
      ...{ state, failed: [...failed], failing_since: failingSince, probes, last_success_at: lastSuccess },
    }),
  };
}

/* When a failed event is sent again: the schedule that Standard Webhooks recommends. */

/** How long to wait before each attempt, in milliseconds: 10 attempts in 75 hours. */
const STEPS = [
  0,
  5000,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;
/** Part of a wait that is added at random, so that what failed together is not sent again together. */
const JITTER = 0.1;
/** After this long with nothing but failures an endpoint is disabled, in milliseconds. */
const DISABLED_AFTER = 120 * HOUR;
/** Failures of so many objects in a row make an endpoint failing. */
const FAILING_AFTER = 10;

const added = (step: number): number => step * (1 + JITTER * Math.random());

/** How long to wait after so many attempts; undefined if there is none left. */
export function waitAfter(attempts: number): number | undefined {
  const step = STEPS[attempts];
  return step === undefined ? undefined : added(step);
}

/** How long a failing endpoint is left alone after so many attempts; there is always another until it is disabled. */
export function probeAfter(probes: number): number {
  return added(STEPS[Math.min(probes + 1, STEPS.length - 1)] ?? 0);
}
