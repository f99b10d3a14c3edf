import { DAY } from '../units';
import { type Collection, defineCollection } from '../mongo/collection';
import { published } from '../schema/model';
import type { Writer } from '../tenant/slots';

export interface EventRow {
  /** Its position in the feed (position.ts). */
  readonly _id: string;
  readonly type: string;
  readonly at: Date;
  readonly object: { readonly type: string; readonly id: string } | null;
  /** Names of the members that were changed. */
  readonly changes: readonly string[];
  readonly status: string | null;
  /** The part of the object that was added or changed. */
  readonly related?: { readonly type: string; readonly id: string };
  /** The times between which history was lost. */
  readonly gap?: { readonly from: Date; readonly to: Date };
  /** Who caused it. Missing in gaps, in what follows them, and in events that earlier versions stored. */
  readonly origin?: Writer;
  /**
   * The customers whose object it is, or was until then; the last is whose it is now, null for nobody. Missing if the object is nobody's, if it is not known whose it was, and in events that
   * earlier versions stored.
   */
  readonly customers?: readonly (string | null)[];
}

/** The types that every key gets, restricted to customers or not. */
const freeTypes = (): string[] =>
  published.eventTypes.filter(({ isRestricted }) => !isRestricted).map(({ name }) => name);

/** Whether a key restricted to customers gets an event: what {@link events} finds for it. */
export function isOfCustomers({ type, customers = [] }: EventRow, customerIds: readonly string[]): boolean {
  return customers.some((id) => id !== null && customerIds.includes(id)) || freeTypes().includes(type);
}

/** In milliseconds. */
export const KEPT_FOR = 30 * DAY;

export const events: Collection<EventRow> = {
  ...defineCollection<EventRow>('events', [
    { on: { at: 1 }, options: { expireAfterSeconds: KEPT_FOR / 1000 } },
    { on: { 'object.id': 1, _id: 1 } },
  ]),
  restriction: {
    condition: (customerIds) => ({
      $or: [{ customers: { $in: [...customerIds] } }, { type: { $in: freeTypes() } }],
    }),
  },
};
