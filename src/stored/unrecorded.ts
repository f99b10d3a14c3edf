import type { OrganisationData } from '../database/organisationData';
import { AppError } from '../errors';
import type { RequestContext } from '../operations/context';
import { SECOND } from '../units';

/*
 * A cluster's log is one queue, in which one organisation's changes delay those of all others. So no organisation's changes may get more
 * than a few seconds ahead of the recording of events (docs/decisions/events.md).
 */

/** Changes by an organisation's bulk calls on one gateway that may wait to be recorded as events. */
const MAX_AHEAD = 20_000;
/** Retry-After, in seconds: the interval at which the position of the recording is stored. */
const RETRY_AFTER = 2;

/** Per organisation, the number of changes, keyed by the whole second of cluster time (in ms) before which they were committed. */
const changes = new WeakMap<OrganisationData, Map<number, number>>();

/** @throws AppError unavailable while too many changes of the organisation are not recorded as events */
export async function admitChanges({ data, events }: Pick<RequestContext, 'data' | 'events'>): Promise<void> {
  const made = changes.get(data);
  if (!made || sum(made) < MAX_AHEAD) return;
  const recorded = await events?.recordingAt();
  // without recording there is nothing to wait for
  for (const until of made.keys()) if (recorded === undefined || until <= recorded) made.delete(until);
  if (sum(made) < MAX_AHEAD) return;
  const detail = 'The events of earlier changes of this organisation are still being recorded; nothing was stored.';
  throw new AppError('unavailable', detail, { reason: 'not_recorded', retryAfter: RETRY_AFTER });
}

/** Notes changes that were just committed. */
export function noteChanges(data: OrganisationData, more: number): void {
  const made = changes.get(data) ?? new Map<number, number>();
  changes.set(data, made);
  // the position of the recording is in whole seconds
  const until = Math.ceil(data.now() / SECOND + 1) * SECOND;
  made.set(until, (made.get(until) ?? 0) + more);
}

function sum(made: ReadonlyMap<number, number>): number {
  let all = 0;
  for (const count of made.values()) all += count;
  return all;
}
