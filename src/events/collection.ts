import { DAY } from '../units';
import type { EventRow } from '../operations/context';
import { defineCollection } from '../database/collection';

export type { EventRow } from '../operations/context';

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
