import { definedByType } from '../database/collection';

/* Webhook endpoints as stored in the control database (docs/decisions/webhooks.md). */

export const ENDPOINT_STATES = ['enabled', 'failing', 'disabled'] as const;
export type EndpointState = (typeof ENDPOINT_STATES)[number];
export type DisabledReason = 'by_hand' | 'failures' | 'gone';

export interface EndpointRow {
  /** UUID. */
  readonly _id: string;
  readonly organisation_id: string;
  readonly url: string;
  /** Types of events that are sent; all if empty. */
  readonly types: readonly string[];
  readonly state: EndpointState;
  readonly disabled: { readonly reason: DisabledReason; readonly at: Date } | null;
  /** Number of its current secret, from 1. */
  readonly version: number;
  /** When its secret replaced another one. */
  readonly rotated_at: Date | null;
  /** Position in its organisation's feed; everything up to it was delivered, parked or filtered out. */
  readonly position: string;
  /** Objects whose events failed since the last success, up to the number that makes the endpoint failing. */
  readonly failed: readonly string[];
  readonly failing_since: Date | null;
  readonly probes: number;
  readonly last_success_at: Date | null;
  readonly parked: number;
  /** When its next work is due; missing if there is none. */
  readonly due?: Date;
  /** Incremented when there is more work, so that the current holder notices. */
  readonly wakes: number;
  /** End of the holder's lease, or of a rest; by the control database's clock. */
  readonly until: Date;
  /** Lease id of the gateway that works on it. */
  readonly holder: string | null;
  readonly created_by: string;
  readonly created_at: Date;
}

export const webhookEndpoints = definedByType<EndpointRow>('webhook_endpoints', [
  // an organisation's endpoints, oldest first
  { on: { organisation_id: 1, created_at: 1 } },
  // endpoints that have work
  { on: { due: 1 }, options: { sparse: true } },
  // counts by state
  { on: { state: 1 } },
]);
