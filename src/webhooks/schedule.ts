import { HOUR, MINUTE } from '../units';

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
export const DISABLED_AFTER = 120 * HOUR;
/** Failures of so many objects in a row make an endpoint failing. */
export const FAILING_AFTER = 10;

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
