import type { Progress } from '../organisations/webhookLeases';
import type { DisabledReason, EndpointRow } from '../organisations/webhookRows';
import type { Attempt } from './post';
import { DISABLED_AFTER, FAILING_AFTER } from './schedule';

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
