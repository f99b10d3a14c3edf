import { trusted } from 'mongoose';
import { defineCollection } from '../mongo/collection';
import type { OrganisationData } from '../tenant/organisationData';
import { atMost } from '../mongo/native';
import { findPage, type Page } from '../tenant/pagination';
import { SETTLED_READ } from '../tenant/slots';
import { type EventRow, events } from '../events/collection';
import { EVENTS_KEPT_FOR, SECOND } from '../units';
import { shownAttempt, type WebhookAttempt } from './post';

/*
 * Deliveries, sent and pending: a row per event and endpoint, in the organisation's own database, kept as long as events. Of the open ones,
 * `waiting` is one to send at `next_at`, and `held` one behind such an event of the same object, which is sent after it.
 */

/** As many as there are by themselves (contract, section 12); those by hand push out the first. */
const MAX_ATTEMPTS_IN_LOG = 10;

type DeliveryState = 'delivered' | 'waiting' | 'held' | 'failed' | 'skipped';

export interface DeliveryQuery {
  readonly endpoint: string;
  readonly state?: DeliveryState | null;
  readonly limit?: number | null;
  readonly cursor?: string | null;
}

export interface DeliveryRow {
  /** Endpoint and position, so that work done twice stores one row. */
  readonly _id: string;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly type: string;
  /** Of the event; null for `feed.gap`. */
  readonly object_id: string | null;
  readonly state: DeliveryState;
  /** Not counting attempts made by hand. */
  readonly attempts: number;
  /** When it is sent next, if it is `waiting`; null in every other state. */
  readonly next_at: Date | null;
  readonly log: readonly WebhookAttempt[];
  readonly at: Date;
}

export type OpenRow = Pick<DeliveryRow, '_id' | 'state' | 'object_id' | 'next_at'>;

export const webhookDeliveries = defineCollection<DeliveryRow>('webhook_deliveries', [
  { on: { at: 1 }, options: { expireAfterSeconds: EVENTS_KEPT_FOR / SECOND } },
  { on: { endpoint_id: 1, state: 1, _id: 1 } },
]);

export const deliveryId = (endpoint: string, position: string): string => `${endpoint}.${position}`;
export const positionOfDelivery = (id: string): string => id.slice(id.indexOf('.') + 1);

/** Adds an attempt to a log, which keeps only the last answer. */
export function withAttempt(log: readonly WebhookAttempt[], last: WebhookAttempt): WebhookAttempt[] {
  const before = log.slice(1 - MAX_ATTEMPTS_IN_LOG).map((attempt) => ({ ...attempt, answer: null }));
  return [...before, shownAttempt(last)];
}

const OPEN: readonly DeliveryState[] = ['waiting', 'held'];
export const OPEN_MEMBERS = { state: 1, object_id: 1, next_at: 1 } as const;

export function createDeliveries(data: OrganisationData) {
  const rows = data.collection(webhookDeliveries);
  const openOf = (endpoint: string) => ({ endpoint_id: endpoint, state: { $in: [...OPEN] } });
  return {
    /** The open deliveries of an endpoint, oldest event first. */
    open: (endpoint: string, most: number): Promise<OpenRow[]> =>
      rows.find(openOf(endpoint), { projection: OPEN_MEMBERS, sort: { _id: 1 }, ...atMost(most) }).toArray(),
    byIds: (ids: readonly string[]): Promise<DeliveryRow[]> =>
      rows.find({ _id: { $in: [...ids] } }, { sort: { _id: 1 } }).toArray(),
    find: (id: string): Promise<DeliveryRow | null> => rows.findOne({ _id: id }),
    /**
     * Stores rows of an organisation that was open a moment ago. @throws AppError unavailable if it was moved or erased meanwhile: then
     * nothing that was stored may be relied on
     */
    async save(changed: readonly DeliveryRow[]): Promise<void> {
      if (changed.length === 0) return;
      await data.prepare([webhookDeliveries]);
      const writes = changed.map(({ _id, ...row }) => ({
        replaceOne: { filter: { _id }, replacement: row, upsert: true },
      }));
      await data.whileStillWritable(() => rows.bulkWrite(writes, { ordered: false }));
      data.wrote([webhookDeliveries], changed.length);
    },
    /** Makes all waiting deliveries of an endpoint due. */
    makeDue: async (endpoint: string, now: Date): Promise<void> => {
      await rows.updateMany({ endpoint_id: endpoint, state: 'waiting' }, { $set: { next_at: now } });
    },
    /** Ends all open deliveries of an endpoint without sending them. */
    skipOpen: async (endpoint: string): Promise<void> => {
      await rows.updateMany(openOf(endpoint), { $set: { state: 'skipped', next_at: null } });
    },
    /** Adds an attempt made by hand to the log; the state stays. */
    noteAttempt: async ({ _id, log }: DeliveryRow, attempt: WebhookAttempt): Promise<void> => {
      await rows.updateOne({ _id }, { $set: { log: withAttempt(log, attempt) } });
    },
    /** A page of deliveries, newest event first. */
    page: ({ endpoint, state, ...args }: DeliveryQuery): Promise<Page<DeliveryRow>> =>
      findPage(data.collection(webhookDeliveries), {
        organisationId: data.organisationId,
        operation: 'webhook_deliveries',
        args,
        filters: { endpoint, ...(state && { state }) },
        conditions: [
          state ? { endpoint_id: endpoint, state } : { _id: trusted({ $gt: `${endpoint}.`, $lt: `${endpoint}/` }) },
        ],
        defaultSort: '-_id',
        unique: '_id',
      }),
  };
}

/** Whether events since a time are still kept. */
export function isKept(data: OrganisationData, from: Date): boolean {
  return from.getTime() >= data.now() - EVENTS_KEPT_FOR;
}

/** Events by position; those that are no longer kept are missing. */
export async function eventsAt(
  data: OrganisationData,
  positions: readonly string[],
): Promise<ReadonlyMap<string, EventRow>> {
  const rows = data.collection(events);
  const storedEvents = await rows.find({ _id: { $in: [...positions] } }, SETTLED_READ).toArray();
  return new Map(storedEvents.map((row) => [row._id, row]));
}
