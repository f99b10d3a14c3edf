import { lookup } from 'node:dns/promises';
import type { mongo } from 'mongoose';
import type { Databases } from '../tenant/databases';
import { type DeploymentFeed, createDeploymentFeed, cursorOfLog, positionOfLog } from '../events/deploymentFeed';
import { createLoop } from '../async/loop';
import type { Control } from '../organisations/control';
import { createLastKnown } from '../organisations/lastKnown';
import { createEndpointLeases, type Leased } from '../organisations/webhookLeases';
import type { EndpointRow } from '../organisations/webhookRows';
import { MINUTE } from '../units';
import { createAddressPolicy } from './addresses';
import { createHealth } from './health';
import { createOperatorFeed, OPERATOR_ENDPOINT, type ParkedRow } from './operatorFeed';
import { keepEndpointLease, notBefore, runPasses } from './passes';
import { createPoster } from './post';
import { signedPost } from './sending';
import type { Outcome } from './work';

/* Posts the events of all organisations to the operator's own server; one gateway at a time does (docs/decisions/operator-webhook.md). */

/** How often to try to take the lease, and how long to wait after a failure, in milliseconds. */
const LOOK_EVERY = 1000;
const AFTER_FAILURE = 5000;
/** How long to work before the lease is given back and taken anew, in milliseconds: one held for minutes counts as lost (passes.ts). */
const SLICE = 10_000;
/** How long the webhook rests without work, unless it is woken, in milliseconds. */
const IDLE_REST = 5000;
/** The longest wait before a failing receiver is tried again, in milliseconds: nobody enables this endpoint by hand. */
const LONGEST_PROBE = 5 * MINUTE;
/** Every address: its URL is chosen by whoever runs the gateway. */
const ANYWHERE = ['0.0.0.0/0', '::/0'];

export interface OperatorWebhookOptions {
  readonly url: string;
  /** One, or two while one is being replaced; each signs. */
  readonly secrets: readonly Buffer[];
  readonly databases: Databases;
  readonly control: Pick<Control, 'organisations'>;
  readonly onOutcome: (outcome: Outcome) => void;
  /** Called if work failed because of a database; it is retried. */
  readonly onError: (error: unknown) => void;
  /** Called if history was lost since a time. */
  readonly onLost: (from: Date) => void;
}

/** The collections of the operator's webhook: one with its row, and one with the events that are parked. */
export function operatorWebhookRows({ control }: Pick<Databases, 'control'>) {
  const database = control.getClient().db(control.name);
  return {
    endpoint: database.collection<EndpointRow>('operator_webhook'),
    parked: database.collection<ParkedRow>('operator_webhook_parked'),
  };
}

export interface Behind {
  /** How far it is behind the log, in seconds. */
  readonly seconds: number;
  readonly parked: number;
}

/** How far the webhook is behind; undefined if no gateway has begun to send yet. */
export async function behindOf(databases: Pick<Databases, 'control' | 'now'>): Promise<Behind | undefined> {
  const row = await operatorWebhookRows(databases).endpoint.findOne({ _id: OPERATOR_ENDPOINT });
  const at = row ? positionOfLog(row.position)?.at : undefined;
  return !row || !at ? undefined : { seconds: Math.max(0, databases.now() / 1000 - at.t), parked: row.parked };
}

export function createOperatorWebhook(options: OperatorWebhookOptions) {
  const { url, secrets, databases, control, onOutcome, onError, onLost } = options;
  const { now } = databases;
  const rows = operatorWebhookRows(databases);
  const leases = createEndpointLeases(rows.endpoint, now);
  const log = createDeploymentFeed(databases);
  const feed = createOperatorFeed({
    log,
    rows: rows.parked,
    now,
    onLost,
    byIds: (ids) => control.organisations.byIds(ids),
  });
  const poster = createPoster({
    policy: createAddressPolicy(ANYWHERE),
    // by the system, since an internal name may be in /etc/hosts or in a search domain
    resolve: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  });
  let hasRow = false;

  async function work(endpoint: Leased): Promise<boolean> {
    const lease = keepEndpointLease(endpoint, leases);
    const sliceEnds = performance.now() + SLICE;
    const mustStop = (): boolean => lease.isLost() || loop.isEnding() || performance.now() > sliceEnds;
    try {
      return await runPasses(endpoint, {
        leases,
        feed,
        now,
        mustStop,
        onOutcome,
        longestRest: IDLE_REST,
        health: createHealth(endpoint, now, { longestProbe: LONGEST_PROBE }),
        requireOpen: () => Promise.resolve(),
        post: async (_endpoint, { shown, isTest }) =>
          mustStop() ? undefined : poster.post({ url, ...signedPost(shown, isTest ? 'test' : 'live', secrets, now()) }),
        disable: () => Promise.resolve(),
      });
    } catch (error) {
      // rests even if it is woken meanwhile; a lease that cannot be given back lapses
      await leases.release(endpoint, {}, notBefore(now() + AFTER_FAILURE)).catch(() => undefined);
      throw error;
    } finally {
      void lease.stop();
    }
  }

  async function lookForWork(): Promise<boolean> {
    if (!hasRow) await makeRow(rows.endpoint, log, now);
    hasRow = true;
    const endpoint = await leases.take(OPERATOR_ENDPOINT);
    return endpoint ? work(endpoint) : false;
  }

  const loop = createLoop({ round: lookForWork, every: LOOK_EVERY, afterFailure: AFTER_FAILURE, onError });

  return {
    start: loop.start,
    /** Makes the webhook due, because there are new events. */
    async wake(): Promise<void> {
      const due = { $min: { due: new Date(now()) }, $inc: { wakes: 1 } };
      await rows.endpoint.updateOne({ _id: OPERATOR_ENDPOINT, state: 'enabled' }, due);
      loop.wake();
    },
    /** Resolves when a post in progress has ended and nothing more is sent. */
    async stop(): Promise<void> {
      await loop.stop();
      poster.close();
    },
    behind: createLastKnown<Behind | undefined>(undefined, () => behindOf(databases)),
  };
}

/** Stores the row of a webhook that is new: it gets what happens from now on. Its URL and secrets are settings, so that those members are empty. */
async function makeRow(rows: mongo.Collection<EndpointRow>, log: DeploymentFeed, now: () => number): Promise<void> {
  if (await rows.findOne({ _id: OPERATOR_ENDPOINT }, { projection: { _id: 1 } })) return;
  const { next } = await log.read(undefined, { types: undefined, organisationId: undefined }, 1, 0);
  const at = new Date(now());
  const row: Omit<EndpointRow, '_id'> = {
    organisation_id: '',
    url: '',
    types: [],
    state: 'enabled',
    disabled: null,
    version: 1,
    rotated_at: null,
    position: cursorOfLog(next),
    failed: [],
    failing_since: null,
    probes: 0,
    last_success_at: null,
    parked: 0,
    due: at,
    wakes: 0,
    holder: null,
    until: new Date(0),
    created_by: '',
    created_at: at,
  };
  await rows.updateOne({ _id: OPERATOR_ENDPOINT }, { $setOnInsert: row }, { upsert: true });
}
