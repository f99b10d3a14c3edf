import { createLoop } from '../async/loop';
import { WORKED_ENDPOINTS } from '../limits';
import type { Leased } from '../organisations/webhookLeases';
import { ownerOf } from '../organisations/webhookRows';
import { createShares } from '../async/shares';
import { cutShortText, type MasterSecret } from './masterSecret';
import { createPostSlots } from './postSlots';
import { runLease, type RunOptions } from './run';
import type { Outcome } from './work';

/* Delivers webhooks in a gateway (docs/decisions/webhooks.md). */

/** Pause between searches for endpoints with work, and after a failed search, in milliseconds. */
const LOOK_EVERY = 1000;
const AFTER_FAILURE = 5000;
/** How often WEBHOOK_SECRET is compared with the secret of the endpoints, in milliseconds. */
const CHECK_EVERY = 60_000;

export interface WorkersOptions extends Omit<RunOptions, 'slots' | 'isEnding' | 'onOutcome'> {
  readonly secret: MasterSecret;
  readonly onOutcome: (outcome: Outcome) => void;
  /** Called if work failed because of a database; it is retried. */
  readonly onError: (error: unknown) => void;
  /** Called once if nothing is sent because WEBHOOK_SECRET has changed. */
  readonly onOtherSecret: () => void;
  /** Called once while endpoints are promised signatures by a former secret that this gateway cannot derive. */
  readonly onCutShort: (problem: string) => void;
}

export function createWorkers({ secret, onError, onOtherSecret, onCutShort, ...options }: WorkersOptions) {
  const { webhookLeases: leases } = options.control;
  const { now } = options.databases;
  const slots = createPostSlots();
  const shares = createShares(WORKED_ENDPOINTS);
  /** By the id of an endpoint that is worked on. */
  const running = new Map<string, Promise<void>>();
  let waited = 0;
  /** Whether the last search left out endpoints, for lack of a worker or beyond their organisation's share. */
  let isFull = false;
  let checked: { readonly at: number; readonly fits: boolean; readonly isCutShort: boolean } | undefined;

  /** Whether WEBHOOK_SECRET is that of the endpoints, as last compared. */
  async function mayWork(): Promise<boolean> {
    if (checked && performance.now() - checked.at < CHECK_EVERY) return checked.fits;
    const fits = await secret.fits();
    if (!fits && checked?.fits !== false) onOtherSecret();
    const problem = fits ? cutShortText(await secret.cutShort()) : undefined;
    if (problem !== undefined && !checked?.isCutShort) onCutShort(problem);
    checked = { at: performance.now(), fits, isCutShort: problem !== undefined };
    return fits;
  }

  async function work(endpoint: Leased): Promise<void> {
    const release = shares.hold({ organisation: ownerOf(endpoint) });
    let isDue = false;
    try {
      isDue = await runLease(endpoint, { ...options, slots, isEnding: loop.isEnding });
    } catch (error) {
      onError(error);
    } finally {
      release();
      running.delete(endpoint._id);
      // the endpoint has more work, or others can be worked on now
      if (isDue || isFull) loop.wake();
    }
  }

  /** Takes the endpoints that are due; does not wait for the work. Resolves with whether there may be more to take at once. */
  async function lookForWork(): Promise<boolean> {
    const limit = WORKED_ENDPOINTS.all - running.size;
    const without = shares.full();
    isFull = limit <= 0 || without.length > 0;
    if (limit <= 0 || !(await mayWork())) return false;
    const dueEndpoints = await leases.waiting({ limit, without });
    const [first] = dueEndpoints;
    waited = first ? Math.max(0, now() - first.due.getTime()) : 0;
    let hasTaken = false;
    for (const due of dueEndpoints) {
      if (loop.isEnding()) return false;
      const isOverShare = shares.exceeded({ organisation: ownerOf(due) }) !== undefined;
      isFull ||= isOverShare;
      if (isOverShare || running.has(due._id)) continue;
      const lease = await leases.take(due._id);
      // another gateway may have been first
      if (lease) running.set(due._id, work(lease));
      hasTaken ||= lease !== undefined;
    }
    return hasTaken && dueEndpoints.length === limit;
  }

  const loop = createLoop({ round: lookForWork, every: LOOK_EVERY, afterFailure: AFTER_FAILURE, onError });
  return {
    start: loop.start,
    wake: loop.wake,
    /** Resolves when work in progress has ended, which takes at most one attempt, and nothing more is sent or stored. */
    async stop(): Promise<void> {
      await loop.stop();
      await Promise.all(running.values());
    },
    /** Whether nothing is sent because WEBHOOK_SECRET is not that of the endpoints, as last compared. */
    hasOtherSecret: (): boolean => checked?.fits === false,
    /** How long the longest-waiting endpoint had waited for a worker at the last search, in milliseconds. */
    waited: (): number => waited,
    /** Posts in progress. */
    posting: (): number => slots.taken(),
    postsWaiting: (): number => slots.waiting(),
  };
}
