import { Schema } from 'mongoose';
import { listOf, nullable, type Optional, optional, PART, required, ROW, type RowOf } from './schemas';

/* Webhook endpoints as stored in the control database (docs/decisions/webhooks.md). */

export const ENDPOINT_STATES = ['enabled', 'failing', 'disabled'] as const;
export type EndpointState = (typeof ENDPOINT_STATES)[number];
export const DISABLED_REASONS = ['by_hand', 'failures', 'gone'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

const disabled = Schema.create({ reason: { ...required.text, enum: DISABLED_REASONS }, at: required.time }, PART);

export type EndpointRow = RowOf<typeof endpointSchema>;

export const endpointSchema = Schema.create(
  {
    /** UUID. */
    _id: required.text,
    /** Of an endpoint for some customers not the id alone: see {@link storedOwner}. */
    organisation_id: required.text,
    /** The customers whose events are sent, and never changed; missing if those of all are. */
    customer_ids: { type: [String], default: undefined, allowNull: false } as unknown as Optional<string[]>,
    url: required.text,
    /** Types of events that are sent; all if empty. */
    types: listOf<string>(),
    state: { ...required.text, enum: ENDPOINT_STATES },
    /** Null unless it is disabled. */
    disabled: nullable.part(disabled),
    /** Number of its current secret, from 1. */
    version: required.number,
    /** Fingerprint of the master secret that its current secret is derived from; missing in rows of earlier versions, for which the control collection `deployment` has it. */
    master: optional.text,
    /** The same of the secret before, if there is one, which `version` says. */
    former_master: optional.text,
    /** When its secret replaced another one; null for the first. */
    rotated_at: nullable.time,
    /** Position in its organisation's feed, the `_id` of an event or BEGINNING (events/page.ts), which sort as texts; everything up to it was delivered, parked (kept to be retried), given up or filtered out. */
    position: required.text,
    /** Ids of objects whose events failed since the last success, '' for all events without one; at most ENDPOINT_FAILING_AFTER, which make it failing. */
    failed: listOf<string>(),
    /** When the first event failed since the last success, though it may still be enabled; null if none did. */
    failing_since: nullable.time,
    /** How often a failing endpoint was tried: each time with its oldest event only. */
    probes: required.number,
    /** Null before the first. */
    last_success_at: nullable.time,
    /** How many events are parked: failed ones, and later ones of the same objects. */
    parked: required.number,
    /** When its next work is due; missing if there is none. */
    due: optional.time,
    /** Incremented when there is more work (a wake), so that the gateway that holds the lease notices. */
    wakes: required.number,
    /** No work before it, even if `due`: the end of the holder's lease, or of a rest that the receiver asked for; by the control database's clock. */
    until: required.time,
    /** Lease id of the gateway that works on it; null if none does. */
    holder: nullable.text,
    /** The name of who did, as it was then. */
    created_by: required.text,
    created_at: required.time,
  },
  { ...ROW, collection: 'webhook_endpoints' },
);
// an organisation's endpoints, oldest first
endpointSchema.index({ organisation_id: 1, created_at: 1 });
// endpoints that have work
endpointSchema.index({ due: 1 }, { sparse: true });
// counts by state
endpointSchema.index({ state: 1 });

const FOR_SOME = ' for some customers';

/**
 * The `organisation_id` of a row. Versions before 1.0 do not know `customer_ids` and would post every event, so that they must find an endpoint
 * for some customers in no organisation (docs/decisions/restricted-keys.md).
 */
export const storedOwner = (organisationId: string, customerIds: readonly string[] | undefined): string =>
  organisationId + (customerIds ? FOR_SOME : '');

/** The id of an endpoint's organisation. */
export const ownerOf = ({ organisation_id: stored }: Pick<EndpointRow, 'organisation_id'>): string =>
  stored.replace(FOR_SOME, '');

/** The `organisation_id` of all rows of some organisations. */
export const ownersOf = (organisationIds: readonly string[]) => ({
  $in: organisationIds.flatMap((id) => [id, id + FOR_SOME]),
});
