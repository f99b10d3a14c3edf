import type { OrganisationData } from '../tenant/organisationData';
import type { EventRow } from '../events/collection';
import { readEvents, type ShownEvent, shownEvent } from '../events/page';
import type { EndpointRow } from '../organisations/webhookRows';
import { createDeliveries, eventsAt } from './deliveries';

/* The events that an endpoint is sent, and its deliveries. */

/** An event to send. */
export interface FeedEntry {
  /** Where it is in its feed; part of the id of its delivery. */
  readonly position: string;
  /** What to store as the endpoint's position once this event and all before it are delivered or parked. */
  readonly after: string;
  readonly type: string;
  /** Id of the object that it is about; null if none. Events of the same object are sent in order. */
  readonly object: string | null;
  /** The body to send. */
  readonly shown: ShownEvent;
  /** Of a sandbox, where one feed has several organisations. */
  readonly isTest?: boolean;
}

export interface WorkFeed {
  /** The next events of an endpoint, of the types that it wants. `next` is its position after all of them. */
  next(
    endpoint: Pick<EndpointRow, 'position' | 'types'>,
    limit: number,
  ): Promise<{ readonly entries: readonly FeedEntry[]; readonly hasMore: boolean; readonly next: string }>;
  /** Events by position; those that are no longer kept are missing. */
  at(positions: readonly string[]): Promise<ReadonlyMap<string, FeedEntry>>;
  readonly deliveries: Pick<ReturnType<typeof createDeliveries>, 'open' | 'byIds' | 'save' | 'makeDue'>;
}

/** What an endpoint is told of its organisation's data: what a key for the same customers has. */
export const dataFor = (
  data: OrganisationData,
  { customer_ids: ids }: Pick<EndpointRow, 'customer_ids'>,
): OrganisationData => (ids ? data.restrictedTo(ids) : data);

/** The feed of an organisation's endpoint. */
export function createFeed(data: OrganisationData, endpoint: Pick<EndpointRow, 'customer_ids'>): WorkFeed {
  const told = dataFor(data, endpoint);
  const entryOf = (row: EventRow): FeedEntry => ({
    position: row._id,
    after: row._id,
    type: row.type,
    object: row.object?.id ?? null,
    shown: shownEvent(data.organisationId, row),
  });
  return {
    async next({ position: after, types }, limit) {
      const wanted = { types: types.length > 0 ? new Set(types) : undefined, objectId: undefined };
      const { rows, hasMore, next } = await readEvents(told, wanted, { after, limit, skipsUnwanted: true });
      return { entries: rows.map(entryOf), hasMore, next };
    },
    at: async (positions) =>
      new Map([...(await eventsAt(told, positions))].map(([position, row]) => [position, entryOf(row)])),
    deliveries: createDeliveries(data),
  };
}
