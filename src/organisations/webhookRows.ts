import { Schema } from 'mongoose';
import {
  listOf,
  NUMBER,
  OPTIONAL_TIME,
  PART,
  partOrNull,
  ROW,
  type RowOf,
  TEXT,
  TEXT_OR_NULL,
  TIME,
  TIME_OR_NULL,
} from './schemas';

/* Webhook endpoints as stored in the control database (docs/decisions/webhooks.md). */

export const ENDPOINT_STATES = ['enabled', 'failing', 'disabled'] as const;
export type EndpointState = (typeof ENDPOINT_STATES)[number];
const DISABLED_REASONS = ['by_hand', 'failures', 'gone'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

const disabled = Schema.create({ reason: { ...TEXT, enum: DISABLED_REASONS }, at: TIME }, PART);

export type EndpointRow = RowOf<typeof endpointSchema>;

export const endpointSchema = Schema.create(
  {
    /** UUID. */
    _id: TEXT,
    organisation_id: TEXT,
    url: TEXT,
    /** Types of events that are sent; all if empty. */
    types: listOf<string>(),
    state: { ...TEXT, enum: ENDPOINT_STATES },
    disabled: partOrNull(disabled),
    /** Number of its current secret, from 1. */
    version: NUMBER,
    /** When its secret replaced another one. */
    rotated_at: TIME_OR_NULL,
    /** Position in its organisation's feed; everything up to it was delivered, parked or filtered out. */
    position: TEXT,
    /** Objects whose events failed since the last success, up to the number that makes the endpoint failing. */
    failed: listOf<string>(),
    failing_since: TIME_OR_NULL,
    probes: NUMBER,
    last_success_at: TIME_OR_NULL,
    parked: NUMBER,
    /** When its next work is due; missing if there is none. */
    due: OPTIONAL_TIME,
    /** Incremented when there is more work, so that the current holder notices. */
    wakes: NUMBER,
    /** End of the holder's lease, or of a rest; by the control database's clock. */
    until: TIME,
    /** Lease id of the gateway that works on it. */
    holder: TEXT_OR_NULL,
    created_by: TEXT,
    created_at: TIME,
  },
  { ...ROW, collection: 'webhook_endpoints' },
);
// an organisation's endpoints, oldest first
endpointSchema.index({ organisation_id: 1, created_at: 1 });
// endpoints that have work
endpointSchema.index({ due: 1 }, { sparse: true });
// counts by state
endpointSchema.index({ state: 1 });
