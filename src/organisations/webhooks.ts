import type { DisabledReason, EndpointState } from './webhookRows';

/* The webhooks of an organisation as its users and its operator see them (src/webhooks/management.ts). */

/** As in schema/webhooks.graphql. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly url: string;
  readonly types: readonly string[];
  readonly state: EndpointState;
  readonly disabled_reason: DisabledReason | null;
  readonly disabled_at: Date | null;
  readonly failing_since: Date | null;
  readonly next_attempt_at: Date | null;
  readonly last_success_at: Date | null;
  readonly waiting: number;
  /** Null if the organisation's cluster does not respond. */
  readonly lag_seconds: number | null;
  readonly old_secret_until: Date | null;
  readonly created_by: string;
  readonly created_at: Date;
}

export interface NewWebhookEndpoint {
  readonly secret: string;
  readonly endpoint: WebhookEndpoint;
}

/** As in schema/webhooks.graphql. */
export interface WebhookAttempt {
  readonly at: Date;
  readonly ok: boolean;
  readonly status: number | null;
  /** What went wrong; null if it was accepted. */
  readonly error: string | null;
  /** The beginning of the answer's body, as text; null if it had none. */
  readonly answer: string | null;
  readonly ms: number;
}

export interface EndpointInput {
  readonly url?: string | null | undefined;
  readonly types?: readonly string[] | null | undefined;
}

export const DELIVERY_STATES = ['delivered', 'waiting', 'held', 'failed', 'skipped'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface DeliveryQuery {
  readonly endpoint: string;
  readonly state?: DeliveryState | null;
  readonly limit?: number | null;
  readonly cursor?: string | null;
}

/**
 * Every method of an endpoint throws AppError not_found for one of another organisation, as for one that never existed, and unavailable
 * where it needs the organisation's cluster and that does not respond.
 */
export interface OwnWebhooks {
  list(): Promise<WebhookEndpoint[]>;
  /** @throws AppError plan_required, validation_failed, unavailable without WEBHOOK_SECRET */
  create(input: { readonly url: string } & EndpointInput): Promise<NewWebhookEndpoint>;
  /** @throws AppError validation_failed */
  update(id: string, input: EndpointInput): Promise<WebhookEndpoint>;
  /** @throws AppError plan_required, unavailable without WEBHOOK_SECRET */
  rotate(id: string): Promise<NewWebhookEndpoint>;
  /** From where it stopped, or a time. @throws AppError plan_required, validation_failed for the future, or if events since then are no longer kept */
  enable(id: string, from?: Date): Promise<WebhookEndpoint>;
  disable(id: string): Promise<WebhookEndpoint>;
  remove(id: string): Promise<WebhookEndpoint>;
  deliveries(query: DeliveryQuery): Promise<object>;
  /** Sends a test event now. @throws AppError rate_limited if too much is sent by hand */
  test(id: string): Promise<WebhookAttempt>;
  /** Sends an event again now. @throws AppError rate_limited; validation_failed if it is no longer kept */
  resend(id: string, delivery: string): Promise<WebhookAttempt>;
}
