import { DAY } from '../units';
import { definedByType } from '../mongo/collection';
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
}

/** In milliseconds. */
export const KEPT_FOR = 30 * DAY;

export const events = definedByType<EventRow>('events', [
  { on: { at: 1 }, options: { expireAfterSeconds: KEPT_FOR / 1000 } },
  { on: { 'object.id': 1, _id: 1 } },
]);
