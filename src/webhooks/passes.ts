import { keepLease } from '../mongo/lease';
import {
  BEAT_EVERY,
  type Leased,
  type NextWork,
  SETTLED_AFTER,
  type WebhookLeases,
} from '../organisations/webhookLeases';
import type { DisabledReason } from '../organisations/webhookRows';
import type { FeedEntry, WorkFeed } from './feed';
import type { Health } from './health';
import type { Attempt } from './post';
import { type Outcome, type Pass, runPass } from './work';

/* Passes (work.ts) over an endpoint while its lease is held: an organisation's, or the operator's. */

/** A lease is given up after this long, in milliseconds: holders stop after SLICE, so by then this one is waiting for a database that does not respond. */
const LEASE_KEPT_FOR = 180_000;
/** How long an endpoint rests whose probe could not be made, in milliseconds. */
export const SOON = 5000;
/** How long one rests that was created a moment ago and has no work, in milliseconds. */
const LOOK_AGAIN_AFTER = 2000;

/** Renews a lease until it is lost, or `stop` is called. */
export function keepEndpointLease(lease: Leased, leases: Pick<WebhookLeases, 'keep'>): ReturnType<typeof keepLease> {
  const renew = async (): Promise<boolean> => (await leases.keep(lease, {})) !== undefined;
  return keepLease({ renew, every: BEAT_EVERY, longest: LEASE_KEPT_FOR });
}

export interface PassOptions {
  readonly leases: Pick<WebhookLeases, 'keep' | 'release'>;
  readonly feed: WorkFeed;
  readonly health: Health;
  readonly now: () => number;
  /** Whether nothing more may begin. */
  readonly mustStop: () => boolean;
  /** Called before each pass but the first. @throws AppError unavailable if nothing may be stored */
  readonly requireOpen: () => Promise<void>;
  /** Posts an event once there is a slot; undefined if the work is over by then. */
  readonly post: (endpoint: Leased, event: FeedEntry) => Promise<Attempt | undefined>;
  readonly onOutcome: (outcome: Outcome) => void;
  /** How long an endpoint rests that has no work, in milliseconds; by default until it is woken. */
  readonly longestRest?: number;
  /** Disables an endpoint because of what it answered. */
  readonly disable: (endpoint: Leased, reason: DisabledReason) => Promise<void>;
}

/** Works until there is nothing to do, or `mustStop`, and gives the lease back. Resolves with whether the endpoint is due again at once. @throws what a pass does; the lease is not given back then */
export async function runPasses(leased: Leased, options: PassOptions): Promise<boolean> {
  const { leases, feed, health, now, mustStop, onOutcome, longestRest = Infinity } = options;
  let endpoint = leased;
  for (;;) {
    const atStart = endpoint;
    if (atStart !== leased) await options.requireOpen();
    const holdsLease = async (): Promise<boolean> => (await leases.keep(atStart, {})) !== undefined;
    const probes = health.isFailing() ? health.probes() : undefined;
    const post = options.post.bind(undefined, atStart);
    const pass = await runPass({ feed, endpoint: atStart, health, post, now, mustStop, holdsLease, onOutcome });
    if (!pass) return false;
    const progress = { ...health.progress(), position: pass.position, parked: pass.parked };
    const disable = health.disable();
    const isUntried = health.isFailing() && health.probes() === probes;
    // no probe was made: without a slot or time it rests; if the page had no wanted event, the position has moved on, and the next page follows, as does the next parked event if the oldest is no longer kept
    const hasMoved = pass.position !== atStart.position || pass.parked < atStart.parked;
    const untriedRest = hasMoved ? undefined : notBefore(now() + SOON);
    const rest = isUntried
      ? untriedRest
      : restAfter(pass, atStart, health, { now: now(), mustStop: mustStop(), longestRest });
    // `atStart` has the wake count from before the events were read, so a wake since then is not lost
    if (rest && disable === undefined) return leases.release(atStart, progress, rest);
    const renewed = await leases.keep(atStart, progress);
    if (!renewed) return false;
    if (disable !== undefined) {
      await options.disable(renewed, disable);
      return false;
    }
    endpoint = renewed;
  }
}

/** Rests until a time, even if the endpoint is woken before. */
export function notBefore(ms: number): NextWork {
  const due = new Date(ms);
  return { due, until: due };
}

/** When an endpoint is next worked on; undefined if there is more to do at once. */
function restAfter(
  { hasMore, nextAt }: Pass,
  { created_at: createdAt }: Leased,
  health: Health,
  { now, mustStop, longestRest }: { readonly now: number; readonly mustStop: boolean; readonly longestRest: number },
): NextWork | undefined {
  const restUntil = health.restUntil();
  if (health.isFailing()) return notBefore(Math.max(now + health.probeWait(), restUntil ?? 0));
  if (restUntil !== undefined) return notBefore(restUntil);
  const hasWork = hasMore || (nextAt !== undefined && nextAt <= now);
  if (hasWork) return mustStop ? { due: new Date(now) } : undefined;
  // the gateways that record events may not know of the endpoint yet
  const young = now - createdAt.getTime() < SETTLED_AFTER ? now + LOOK_AGAIN_AFTER : undefined;
  const next = Math.min(nextAt ?? Infinity, young ?? Infinity, now + longestRest);
  return next === Infinity ? {} : { due: new Date(next) };
}
