import { EVENTS_KEPT_FOR, SECOND } from '../units';
import { type Collection, defineCollection } from '../mongo/collection';
import { published } from '../schema/model';
import type { Writer } from '../tenant/slots';

export interface EventRow {
  /** Its position in the feed (position.ts). */
  readonly _id: string;
  readonly type: string;
  /** When the change was committed, by the database's clock. */
  readonly at: Date;
  readonly object: { readonly type: string; readonly id: string } | null;
  /** Names of the members that were changed. */
  readonly changes: readonly string[];
  /** The object's after the change; null if it has none, or was deleted by then. */
  readonly status: string | null;
  /** The part of the object that was added or changed. */
  readonly related?: { readonly type: string; readonly id: string };
  /** The times between which history was lost. */
  readonly gap?: { readonly from: Date; readonly to: Date };
  /** Who caused it. Missing in gaps, in what follows them, and in events that earlier versions stored. */
  readonly origin?: Writer;
  /**
   * The customer whose object it was, then the one whose it is: one entry if that is the same, and null as the last if it is nobody's now. Missing
   * if it is nobody's and was not known to be anybody's, and in events that earlier versions stored.
   */
  readonly customers?: readonly (string | null)[];
}

/** Whether a key restricted to customers gets an event: what {@link events} finds for it. */
export function isOfCustomers({ type, customers = [] }: EventRow, customerIds: readonly string[]): boolean {
  return customers.some((id) => id !== null && customerIds.includes(id)) || published.unrestrictedEventTypes.has(type);
}

export const events: Collection<EventRow> = {
  ...defineCollection<EventRow>('events', [
    { on: { at: 1 }, options: { expireAfterSeconds: EVENTS_KEPT_FOR / SECOND } },
    { on: { 'object.id': 1, _id: 1 } },
  ]),
  restriction: {
    condition: (customerIds) => ({
      $or: [{ customers: { $in: [...customerIds] } }, { type: { $in: [...published.unrestrictedEventTypes] } }],
    }),
  },
};
