import { createLoop } from '../loop';
import type { Due, Leased, Room } from '../organisations/webhookLeases';
import type { MasterSecret } from './masterSecret';
import { createPlaces } from './places';
import { runLease, type RunOptions } from './run';
import type { Outcome } from './work';

/* Delivers webhooks in a gateway (docs/decisions/webhooks.md). */

/** Pause between searches for endpoints with work, and after a failed search, in milliseconds. */
const LOOK_EVERY = 1000;
const AFTER_FAILURE = 5000;
/** How many endpoints a gateway works on at once: in all, and of one organisation. */
const MAX_LEASES = { all: 64, organisation: 8 } as const;
/** How often WEBHOOK_SECRET is compared with the secret of the endpoints, in milliseconds. */
const CHECK_EVERY = 60_000;

export interface WorkersOptions extends Omit<RunOptions, 'places' | 'isEnding' | 'onOutcome'> {
  readonly secret: MasterSecret;
  readonly onOutcome: (outcome: Outcome) => void;
  /** Called if work failed because of a database; it is retried. */
  readonly onError: (error: unknown) => void;
  /** Called once if nothing is sent because WEBHOOK_SECRET has changed. */
  readonly onOtherSecret: () => void;
}

export function createWorkers({ secret, onError, onOtherSecret, ...options }: WorkersOptions) {
  const { webhookLeases: leases } = options.control;
  const { now } = options.databases;
  const places = createPlaces();
  const running = new Map<string, { readonly lease: Leased; readonly ended: Promise<void> }>();
  let [waited, isFull] = [0, false];
  let checked: { readonly at: number; readonly fits: boolean } | undefined;

  async function mayWork(): Promise<boolean> {
    if (checked && performance.now() - checked.at < CHECK_EVERY) return checked.fits;
    const fits = await secret.fits();
    if (!fits && checked?.fits !== false) onOtherSecret();
    checked = { at: performance.now(), fits };
    return fits;
  }

  async function work(taken: Leased): Promise<void> {
    let isDue = false;
    try {
      isDue = await runLease(taken, { ...options, places, isEnding: loop.isEnding });
    } catch (error) {
      onError(error);
    } finally {
      running.delete(taken._id);
      // the endpoint has more work, or has made room for others
      if (isDue || isFull) loop.wake();
    }
  }

  function room(): Room {
    const ids = [...running.values()].map(({ lease }) => lease.organisation_id);
    const hasMost = (id: string): boolean => ids.filter((other) => other === id).length >= MAX_LEASES.organisation;
    return { limit: MAX_LEASES.all - running.size, without: [...new Set(ids)].filter(hasMost) };
  }

  const fits = ({ organisation_id: id }: Due): boolean => {
    const { limit, without } = room();
    return limit > 0 && !without.includes(id);
  };

  async function look(): Promise<boolean> {
    const free = room();
    isFull = free.limit <= 0 || free.without.length > 0;
    if (free.limit <= 0 || !(await mayWork())) return false;
    const found = await leases.waiting(free);
    const [first] = found;
    waited = first ? Math.max(0, now() - first.due.getTime()) : 0;
    let hasTaken = false;
    for (const due of found) {
      if (loop.isEnding()) return false;
      if (!fits(due)) isFull = true;
      if (!fits(due) || running.has(due._id)) continue;
      const lease = await leases.take(due._id);
      // another gateway may have been first
      if (lease) running.set(due._id, { lease, ended: work(lease) });
      hasTaken ||= lease !== undefined;
    }
    return hasTaken && found.length === free.limit;
  }

  const loop = createLoop({ round: look, every: LOOK_EVERY, afterFailure: AFTER_FAILURE, onError });
  return {
    start: loop.start,
    wake: loop.wake,
    /** Resolves when work in progress has ended, which takes at most one attempt, and nothing more is sent or stored. */
    async stop(): Promise<void> {
      await loop.stop();
      await Promise.all([...running.values()].map(({ ended }) => ended));
    },
    /** How long the longest-waiting endpoint had waited for a worker at the last search, in milliseconds. */
    waited: (): number => waited,
    /** Posts in progress. */
    posting: (): number => places.taken(),
    /** Posts that wait for a place. */
    postsWaiting: (): number => places.waiting(),
  };
}
