import { modeOf, type Organisation, STATES } from '../auth/principal';
import type { Databases } from '../tenant/databases';
import { AppError } from '../errors';
import type { Authority } from '../organisations/auditEvents';
import type { Control } from '../organisations/control';
import type { Leased, NextWork } from '../organisations/webhookLeases';
import { type DisabledReason, ownerOf } from '../organisations/webhookRows';
import { createFeed } from './feed';
import { createHealth } from './health';
import { keepEndpointLease, notBefore, runPasses, SOON } from './passes';
import type { PostSlots } from './postSlots';
import type { Sender } from './sending';
import type { Outcome } from './work';

/* One lease of an endpoint, from taking it to giving it back. */

/** How long to work on an endpoint before others get their turn, in milliseconds. */
const SLICE = 10_000;
/**
 * How long an endpoint rests, in milliseconds, if its organisation may not call the API, if the organisation's database does not respond, or if that
 * is being moved.
 */
const REST = { closed: 60_000, down: 20_000, moving: SOON } as const;

const SYSTEM: Authority = { actor: { who: 'system:webhooks', from: 'gateway' } };

export interface RunOptions {
  readonly databases: Pick<Databases, 'organisationData' | 'now'>;
  readonly control: Pick<Control, 'webhooks' | 'webhookLeases' | 'moving' | 'plans'>;
  readonly sender: Sender;
  readonly slots: PostSlots;
  /** Whether the database of an organisation does not respond. */
  readonly isDown: (organisationId: string) => boolean;
  readonly isEnding: () => boolean;
  readonly onOutcome: (outcome: Outcome) => void;
  /** Called when an endpoint is disabled because of what it answered. */
  readonly onDisabled: (lease: Leased, reason: DisabledReason) => void;
}

/** Whether an organisation's state and plan allow webhooks. */
function isServed({ plans }: Pick<Control, 'plans'>, organisation: Organisation): boolean {
  return STATES[organisation.state].requests && plans.hasApi(organisation);
}

/**
 * Works on an endpoint until there is nothing to do, or another endpoint's turn comes, and gives its lease back. Resolves with whether the
 * endpoint is due again at once.
 * @throws if a database does not respond; the endpoint rests then, too, or if that cannot be stored, until its lease lapses
 */
export async function runLease(leased: Leased, options: RunOptions): Promise<boolean> {
  const { databases, control } = options;
  const { webhookLeases: leases } = control;
  const { now } = databases;
  const after = (ms: number): NextWork => notBefore(now() + ms);

  const { organisation, move } = (await control.moving.moveOf(ownerOf(leased))) ?? {};
  if (!organisation || !isServed(control, organisation)) return leases.release(leased, {}, after(REST.closed));
  // nothing may be sent if its outcome could not be stored
  if (move) return leases.release(leased, {}, after(REST.moving));
  if (options.isDown(organisation.id)) return leases.release(leased, {}, after(REST.down));
  const lease = keepEndpointLease(leased, leases);
  const sliceEnds = performance.now() + SLICE;
  const mustStop = (): boolean => lease.isLost() || options.isEnding() || performance.now() > sliceEnds;
  const data = databases.organisationData(organisation);
  try {
    return await runPasses(leased, {
      leases,
      feed: createFeed(data, leased),
      health: createHealth(leased, now),
      now,
      mustStop,
      onOutcome: options.onOutcome,
      requireOpen: () => data.requireOpen(),
      async post(endpoint, { shown }) {
        const giveBack = await options.slots.take(organisation.id, Math.max(0, sliceEnds - performance.now()));
        try {
          return !giveBack || mustStop() ? undefined : await options.sender.send(endpoint, shown, modeOf(organisation));
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
    if (isRefused) return await leases.release(leased, {}, after(REST.moving));
    // a lease that cannot be given back lapses
    await leases.release(leased, {}, after(REST.down)).catch(() => undefined);
    throw error;
  } finally {
    void lease.stop();
  }
}
