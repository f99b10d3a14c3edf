import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import { type Held, createLeases } from '../mongo/lease';
import { nativeCollection } from '../mongo/native';
import type { ControlModels } from './models';
import { type EndpointRow, ownerOf, ownersOf } from './webhookRows';

/* Which gateway delivers to which webhook endpoint, and when (docs/decisions/webhooks.md). */

/** How long a lease lasts, in milliseconds; longer than an attempt. */
const LEASED_FOR = 30_000;
/** How often the holder renews its lease, and so notices that it has lost it, in milliseconds. */
export const BEAT_EVERY = 3000;
/** How long to remember that an organisation has no endpoint, in milliseconds. */
const REMEMBER_NONE_FOR = 5000;
/** Younger endpoints look for events even if they are not woken, so that they miss nothing while that is remembered; in milliseconds. */
export const SETTLED_AFTER = 3 * REMEMBER_NONE_FOR;

/** What the work on an endpoint changes in it. */
export type Progress = Partial<
  Pick<EndpointRow, 'position' | 'state' | 'failed' | 'failing_since' | 'probes' | 'last_success_at' | 'parked'>
>;

/** When to work on an endpoint again, once its lease is given back. */
export interface NextWork {
  /** When the next work is due; if missing, when the next event comes. */
  readonly due?: Date | undefined;
  /** No work before this time, whatever happens. */
  readonly until?: Date | undefined;
}

type DueEndpoint = Required<Pick<EndpointRow, '_id' | 'organisation_id' | 'due'>>;

interface WaitingQuery {
  readonly limit: number;
  /** Ids of organisations to leave out, as this gateway already works on as many of their endpoints as it may. */
  readonly without: readonly string[];
}

/** A lease: the endpoint as it was when its holder last read it. */
export type Leased = Held<EndpointRow>;

export type WebhookLeases = ReturnType<typeof createEndpointLeases>;

export function createWebhookLeases({ webhookEndpoints }: Pick<ControlModels, 'webhookEndpoints'>, now: () => number) {
  return createEndpointLeases(nativeCollection(webhookEndpoints), now);
}

export function createEndpointLeases(rows: mongo.Collection<EndpointRow>, now: () => number) {
  const withoutEndpoint = new LRUCache<string, true>({ max: 10_000, ttl: REMEMBER_NONE_FOR });

  const leases = createLeases(rows, LEASED_FOR, now);
  const due = () => ({ due: { $lte: new Date(now()) } });
  const woken = () => ({ $min: { due: new Date(now()) }, $inc: { wakes: 1 } });

  return {
    /** Endpoints that have work and no lease; those that have waited longest come first. */
    waiting: async ({ limit, without: full }: WaitingQuery): Promise<DueEndpoint[]> =>
      (await rows
        .find(
          { ...due(), ...leases.free(), ...(full.length > 0 && { organisation_id: { $nin: ownersOf(full).$in } }) },
          { sort: { due: 1 }, limit, projection: { organisation_id: 1, due: 1 } },
        )
        .toArray()) as unknown as DueEndpoint[],
    /** Leases an endpoint; undefined if another gateway was first. */
    take: (id: string): Promise<Leased | undefined> => leases.take({ _id: id, ...due() }),
    /** Renews a lease and stores the progress. Resolves with the current endpoint; undefined if the lease was lost. */
    keep: ({ _id, holder }: Leased, progress: Progress): Promise<Leased | undefined> =>
      leases.renew({ _id, holder }, { $set: progress }),
    /**
     * Gives a lease back. An endpoint that was woken since it was read (its `wakes` have changed) is due at once, or when its rest ends.
     * Resolves with whether it is due now; false if the lease was lost, and then nothing is stored.
     */
    async release(
      { _id, holder, wakes }: Leased,
      progress: Progress,
      { due, until: rest }: NextWork,
    ): Promise<boolean> {
      // the index of endpoints that have work lacks those without `due`
      const resting = due ? { $set: { ...progress, due } } : { $set: progress, $unset: { due: '' as const } };
      const isRestOver = rest === undefined || rest.getTime() <= now();
      if (await leases.release({ _id, holder, wakes }, resting, { until: rest }))
        return due !== undefined && due.getTime() <= now() && isRestOver;
      const dueNow = { $set: { ...progress, due: new Date(now()) } };
      return (await leases.release({ _id, holder }, dueNow, { until: rest })) && isRestOver;
    },
    /** Makes the enabled endpoints of organisations with new events due now; failing ones keep their due time. True if there is any. */
    async wake(organisations: readonly string[]): Promise<boolean> {
      const some = organisations.filter((id) => !withoutEndpoint.has(id));
      if (some.length === 0) return false;
      const theirs = { organisation_id: ownersOf(some) };
      const { matchedCount } = await rows.updateMany({ ...theirs, state: 'enabled' }, woken());
      if (matchedCount < some.length) {
        const withEndpoint = await rows.find(theirs, { projection: { _id: 0, organisation_id: 1 } }).toArray();
        const having = new Set(withEndpoint.map(ownerOf));
        for (const id of some) if (!having.has(id)) withoutEndpoint.set(id, true);
      }
      return matchedCount > 0;
    },
    /** Makes every enabled endpoint for some customers due now, as gateways of versions before 1.0 wake none of these. True if there is any. */
    wakeForSomeCustomers: async (): Promise<boolean> =>
      (await rows.updateMany({ state: 'enabled', customer_ids: { $exists: true } }, woken())).matchedCount > 0,
  };
}
