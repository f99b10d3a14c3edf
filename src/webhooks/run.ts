import { hasApiAccess, modeOf, type Organisation, STATES } from '../auth/principal';
import type { Databases } from '../tenant/databases';
import { AppError } from '../errors';
import type { Authority } from '../organisations/auditEvents';
import type { Control } from '../organisations/control';
import type { Leased, Rest } from '../organisations/webhookLeases';
import type { DisabledReason } from '../organisations/webhookRows';
import { feedOf } from './feed';
import { healthOf } from './health';
import { keep, notBefore, passes, SOON } from './passes';
import type { PostSlots } from './postSlots';
import type { Sender } from './sending';
import type { Outcome } from './work';

/* One lease of an endpoint, from taking it to giving it back. */

/** How long to work on an endpoint before others get their turn, in milliseconds. */
const SLICE = 10_000;
/** How long an endpoint rests if something other than its receiver prevents deliveries, in milliseconds. */
const REST = { closed: 60_000, away: 20_000, moving: SOON } as const;

const SYSTEM: Authority = { actor: { who: 'system:webhooks', from: 'gateway' } };

export interface RunOptions {
  readonly databases: Pick<Databases, 'organisationData' | 'now'>;
  readonly control: Pick<Control, 'webhooks' | 'webhookLeases' | 'moving'>;
  readonly sender: Sender;
  readonly slots: PostSlots;
  /** Whether the database of an organisation does not respond. */
  readonly isAway: (organisationId: string) => boolean;
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
  const { now } = databases;
  const after = (ms: number): Rest => notBefore(now() + ms);

  const { organisation, move } = (await control.moving.movesOf(taken.organisation_id)) ?? {};
  if (!organisation || !isServed(organisation)) return leases.release(taken, {}, after(REST.closed));
  // nothing may be sent if its outcome could not be stored
  if (move) return leases.release(taken, {}, after(REST.moving));
  if (options.isAway(organisation.id)) return leases.release(taken, {}, after(REST.away));
  const kept = keep(taken, leases);
  const sliceEnds = performance.now() + SLICE;
  const isOver = (): boolean => kept.isLost() || options.isEnding() || performance.now() > sliceEnds;
  const data = databases.organisationData(organisation);
  try {
    return await passes(taken, {
      ...{ leases, feed: feedOf(data), health: healthOf(taken, now), now, isOver, onOutcome: options.onOutcome },
      requireOpen: () => data.requireOpen(),
      async post(endpoint, { shown }) {
        const giveBack = await options.slots.take(organisation.id, Math.max(0, sliceEnds - performance.now()));
        try {
          return !giveBack || isOver() ? undefined : await options.sender.send(endpoint, shown, modeOf(organisation));
        } finally {
          giveBack?.();
        }
      },
      async disable(endpoint, reason) {
        await control.webhooks.disable(endpoint._id, reason, SYSTEM);
        options.onDisabled(endpoint, reason);
      },
    });
  } catch (error) {
    const isRefused = error instanceof AppError && error.code === 'unavailable';
    await leases.release(taken, {}, after(isRefused ? REST.moving : REST.away));
    if (!isRefused) throw error;
    return false;
  } finally {
    void kept.stop();
  }
}
