import { type mongo, trusted } from 'mongoose';
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
 * `waiting` is one to send at `next_at`, and `held` one behind such an event of the same object, which is sent after it. `failed` was given up
 * after its attempts, and `skipped` was open when somebody had the endpoint go on elsewhere: neither is sent again by itself.
 */

/** The most attempts that a gateway makes (contract, section 12); those that people make push out the first. */
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
  /** Attempts by itself and by hand, of which only the last has its answer. */
  readonly log: readonly WebhookAttempt[];
  /** When the row was made, from which MongoDB counts how long it is kept. */
  readonly at: Date;
}

/** A row to store, with `log` as it was read. */
export interface ChangedDelivery extends DeliveryRow {
  /** An attempt to add to the log. */
  readonly attempt?: WebhookAttempt;
}

export type OpenRow = Pick<DeliveryRow, '_id' | 'state' | 'object_id' | 'next_at'>;

export const webhookDeliveries = defineCollection<DeliveryRow>('webhook_deliveries', [
  { on: { at: 1 }, options: { expireAfterSeconds: EVENTS_KEPT_FOR / SECOND } },
  { on: { endpoint_id: 1, state: 1, _id: 1 } },
]);

export const deliveryId = (endpoint: string, position: string): string => `${endpoint}.${position}`;
export const positionOfDelivery = (id: string): string => id.slice(id.indexOf('.') + 1);

/** The stored log and an attempt. MongoDB adds it, since a gateway that retries and a person who resends may have read the same log. */
function logWith(attempt: WebhookAttempt): object {
  const before = { $map: { input: { $ifNull: ['$log', []] }, in: { $mergeObjects: ['$$this', { answer: null }] } } };
  const log = { $concatArrays: [before, [{ $literal: shownAttempt(attempt) }]] };
  return { $slice: [log, -MAX_ATTEMPTS_IN_LOG] };
}

/** The stages of an update that sets members, and adds an attempt to the log. */
export const deliveryUpdate = ({ attempt, log, ...members }: Omit<ChangedDelivery, '_id'>): mongo.Document[] => {
  const literals = Object.entries(members).map(([name, value]) => [name, { $literal: value }] as const);
  return [{ $set: { ...Object.fromEntries(literals), log: attempt ? logWith(attempt) : { $ifNull: ['$log', log] } } }];
};

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
    async save(changed: readonly ChangedDelivery[]): Promise<void> {
      if (changed.length === 0) return;
      await data.prepare([webhookDeliveries]);
      const writes = changed.map(({ _id, ...row }) => ({
        updateOne: { filter: { _id }, update: deliveryUpdate(row), upsert: true },
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
    noteAttempt: async ({ _id }: DeliveryRow, attempt: WebhookAttempt): Promise<void> => {
      await rows.updateOne({ _id }, [{ $set: { log: logWith(attempt) } }]);
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
