import { Gauge, type Registry } from 'prom-client';
import { within } from '../within';
import { tally } from './tally';

/* What the metrics say of webhooks. */

/** How long a page of metrics waits for the counts, in milliseconds: less than a scraper, or the page of all workers, waits for it. */
const COUNTS_WITHIN = 1000;

export interface WebhookMetricsOptions {
  /** What this gateway delivers. */
  readonly webhooks: () => {
    /** How long the endpoint that waits longest has waited, in milliseconds. */
    waited(): number;
    /** Posts under way. */
    posting(): number;
    /** Posts that wait for a place among them. */
    postsWaiting(): number;
  };
  /** Endpoints of all organisations by state. @throws if the database does not respond */
  readonly webhookEndpoints: () => Promise<ReadonlyMap<string, number>>;
}

/** Returns what counts the outcome of an attempt. */
export function addWebhooks(
  registry: Registry,
  { webhooks, webhookEndpoints }: WebhookMetricsOptions,
): (outcome: 'delivered' | 'failed' | 'given_up') => void {
  const registers = [registry];
  new Gauge({
    name: 'scopegate_webhook_endpoints',
    help: 'Webhook endpoints of all organisations by state, counted at most once a minute.',
    labelNames: ['state'] as const,
    registers,
    async collect() {
      // the last counts stay while the database is away or slow, when the other metrics matter most
      const counts = await within(COUNTS_WITHIN, webhookEndpoints()).catch(() => undefined);
      for (const [state, count] of counts ?? []) this.set({ state }, count);
    },
  });
  new Gauge({
    name: 'scopegate_webhook_waiting_seconds',
    help: 'How long the webhook endpoint with work that waits longest has waited for a gateway to take it.',
    registers,
    collect() {
      this.set(webhooks().waited() / 1000);
    },
  });
  new Gauge({
    name: 'scopegate_webhook_posts',
    help: 'Webhooks that are being sent; at most 64 a gateway.',
    registers,
    collect() {
      this.set(webhooks().posting());
    },
  });
  new Gauge({
    name: 'scopegate_webhook_posts_waiting',
    help: 'Webhooks that wait until fewer are being sent: by the gateway, by their organisation, or to receivers that fail or are slow.',
    registers,
    collect() {
      this.set(webhooks().postsWaiting());
    },
  });
  return tally(
    registry,
    {
      name: 'scopegate_webhook_deliveries_total',
      help: 'Attempts to send webhooks by outcome: delivered, failed (sent again later), given_up (after the last attempt). Without those by hand.',
      labelNames: ['outcome'],
    },
    ['delivered', 'failed', 'given_up'],
  );
}
