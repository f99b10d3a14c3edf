import { hasApiAccess, modeOf, type Organisation, STATES } from '../auth/principal';
import type { Databases } from '../database/connect';
import { AppError } from '../errors';
import type { Authority } from '../organisations/auditEvents';
import type { Control } from '../organisations/control';
import { BEAT_EVERY, type Leased, type Rest, SETTLED_AFTER } from '../organisations/webhookLeases';
import type { DisabledReason } from '../organisations/webhookRows';
import { healthOf, probeAfter } from './health';
import type { Places } from './places';
import type { Sender } from './sending';
import { type Outcome, type Pass, workOnce } from './work';

/* One lease of an endpoint, from taking it to giving it back. */

/** How long to work on an endpoint before others get their turn, in milliseconds. */
const SLICE = 10_000;
/** A lease is given up after this long, in milliseconds: by then its holder is waiting for a database that does not respond. */
const LONGEST = 180_000;
/** How long an endpoint rests if something other than its receiver prevents deliveries, in milliseconds. */
const REST = { closed: 60_000, away: 20_000, moving: 5000, young: 2000 } as const;

const SYSTEM: Authority = { actor: { who: 'system:webhooks', from: 'gateway' } };

export interface RunOptions {
  readonly databases: Pick<Databases, 'open' | 'now'>;
  readonly control: Pick<Control, 'webhooks' | 'webhookLeases' | 'moving'>;
  readonly sender: Sender;
  readonly places: Places;
  /** Whether a cluster does not respond. */
  readonly isAway: (cluster: string) => boolean;
  readonly isEnding: () => boolean;
  readonly onOutcome: (outcome: Outcome) => void;
  /** Called when an endpoint is disabled because of what it answered. */
  readonly onDisabled: (lease: Leased, reason: DisabledReason) => void;
}

function isServed(organisation: Organisation): boolean {
  return STATES[organisation.state].requests && hasApiAccess(organisation);
}

/**
 * Works on an endpoint until there is nothing to do, or another endpoint's turn comes. Resolves with whether the endpoint is due again at
 * once.
 * @throws if a database does not respond
 */
export async function runLease(taken: Leased, options: RunOptions): Promise<boolean> {
  const { databases, control } = options;
  const { webhookLeases: leases } = control;
  const after = (ms: number): Rest => notBefore(databases.now() + ms);

  const { organisation, move } = (await control.moving.movesOf(taken.organisation_id)) ?? {};
  if (!organisation || !isServed(organisation)) return leases.release(taken, {}, after(REST.closed));
  // nothing may be sent if its outcome could not be stored
  if (move) return leases.release(taken, {}, after(REST.moving));
  if (options.isAway(organisation.cluster)) return leases.release(taken, {}, after(REST.away));
  const beat = heartbeat(taken, options);
  try {
    return await passes(taken, organisation, beat.isLost, options);
  } catch (error) {
    const isRefused = error instanceof AppError && error.code === 'unavailable';
    await leases.release(taken, {}, after(isRefused ? REST.moving : REST.away));
    if (!isRefused) throw error;
    return false;
  } finally {
    beat.stop();
  }
}

function heartbeat(lease: Leased, { control }: RunOptions) {
  let isLost = false;
  const latest = performance.now() + LONGEST;
  const timer = setInterval(() => {
    isLost ||= performance.now() > latest;
    if (isLost) return;
    // the lease outlasts several beats, so a failed one does not lose it
    const keeping = control.webhookLeases.keep(lease, {}).catch(() => lease);
    void keeping.then((kept) => (isLost ||= !kept));
  }, BEAT_EVERY);
  return { isLost: () => isLost, stop: clearInterval.bind(undefined, timer) };
}

/** Works until there is nothing to do, or another endpoint's turn comes. Resolves with whether the endpoint is due again at once. */
async function passes(
  taken: Leased,
  organisation: Organisation,
  isLost: () => boolean,
  options: RunOptions,
): Promise<boolean> {
  const { databases, control, sender, places, isEnding, onOutcome } = options;
  const { now } = databases;
  const data = await databases.open(organisation);
  const health = healthOf(taken, now);
  const sliceEnds = performance.now() + SLICE;
  const isOver = (): boolean => isLost() || isEnding() || performance.now() > sliceEnds;
  let endpoint = taken;
  for (;;) {
    const atStart = endpoint;
    if (atStart !== taken) await data.requireOpen();
    const post = async (event: { readonly id: string }) => {
      const giveBack = await places.take(organisation.id, Math.max(0, sliceEnds - performance.now()));
      try {
        return !giveBack || isOver() ? undefined : await sender.send(atStart, event, modeOf(organisation));
      } finally {
        giveBack?.();
      }
    };
    const isOurs = async (): Promise<boolean> => (await control.webhookLeases.keep(atStart, {})) !== undefined;
    const probes = health.isFailing() ? health.probes() : undefined;
    const pass = await workOnce({ data, endpoint: atStart, health, post, now, isOver, isOurs, onOutcome });
    if (!pass) return false;
    const progress = { ...health.progress(), position: pass.position, parked: pass.parked };
    const disable = health.disable();
    // if a probe was not made, for lack of a place or because the gateway is stopping, it is made soon
    const isUntried = health.isFailing() && health.probes() === probes;
    const rest = isUntried
      ? notBefore(now() + REST.moving)
      : restAfter(pass, atStart, health, { now: now(), isOver: isOver() });
    // `atStart` has the wake count from before the events were read, so a wake since then is not lost
    if (rest && disable === undefined) return control.webhookLeases.release(atStart, progress, rest);
    const kept = await control.webhookLeases.keep(atStart, progress);
    if (!kept) return false;
    if (disable !== undefined) {
      await control.webhooks.disable(kept._id, disable, SYSTEM);
      options.onDisabled(kept, disable);
      return false;
    }
    endpoint = kept;
  }
}

/** Rests until a time, even if the endpoint is woken before. */
function notBefore(ms: number): Rest {
  const due = new Date(ms);
  return { due, until: due };
}

/** When an endpoint is next worked on; undefined if there is more to do at once. */
function restAfter(
  { hasMore, nextAt }: Pass,
  { created_at: made }: Leased,
  health: ReturnType<typeof healthOf>,
  { now, isOver }: { readonly now: number; readonly isOver: boolean },
): Rest | undefined {
  if (health.isFailing()) return notBefore(now + probeAfter(health.probes()));
  const restUntil = health.restUntil();
  if (restUntil !== undefined) return notBefore(restUntil);
  const hasWork = hasMore || (nextAt !== undefined && nextAt <= now);
  if (hasWork) return isOver ? { due: new Date(now) } : undefined;
  // the gateways that record events may not know of the endpoint yet
  const young = now - made.getTime() < SETTLED_AFTER ? now + REST.young : undefined;
  const next = Math.min(nextAt ?? Infinity, young ?? Infinity);
  return next === Infinity ? {} : { due: new Date(next) };
}
