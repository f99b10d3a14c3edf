import { DAY } from '../units';
import { defineCollection } from '../database/collection';

/** An event as stored, in the database of its organisation. */
export interface EventRow {
  /** Its position. */
  readonly _id: string;
  readonly type: string;
  readonly at: Date;
  readonly object: { readonly type: string; readonly id: string } | null;
  readonly changes: readonly string[];
  readonly status: string | null;
  /** What was added to the object, or changed in it. */
  readonly related?: { readonly type: string; readonly id: string };
  /** Between which times history was lost. */
  readonly gap?: { readonly from: Date; readonly to: Date };
}

/** How long events are kept, in milliseconds. */
export const KEPT_FOR = 30 * DAY;

const text = { type: String, required: true } as const;

export const events = defineCollection<EventRow>(
  'events',
  {
    _id: text,
    type: text,
    at: { type: Date, required: true },
    object: { type: { type: String }, id: String },
    changes: [String],
    status: String,
    related: { type: { type: String }, id: String },
    gap: { from: Date, to: Date },
  },
  [{ on: { at: 1 }, options: { expireAfterSeconds: KEPT_FOR / 1000 } }, { on: { 'object.id': 1, _id: 1 } }],
);
