import type { Config } from '../config';

/* What the environment says of webhooks. */

export interface WebhookSettings {
  /** The master secret; undefined if no endpoint can be made. */
  readonly master: string | undefined;
  /** Ranges that are allowed although they are not public. */
  readonly ranges: readonly string[];
}

/** Loopback, so that a receiver on this machine can be tried. */
export const EMBEDDED_RANGES = '127.0.0.0/8,::1/128';

/** Of the embedded database only, which is not for production: it has no secrets to keep either. */
const EMBEDDED: WebhookSettings = {
  master: 'scopegate: the embedded database has this webhook secret',
  ranges: EMBEDDED_RANGES.split(','),
};

export const NO_SECRET =
  'WEBHOOK_SECRET is not set, so webhook endpoints cannot be made; set it to the same value for every gateway and command (openssl rand -hex 32 makes one)';

export function webhookSettings(
  config: Pick<Config, 'MONGODB_URI' | 'WEBHOOK_SECRET' | 'WEBHOOK_ALLOWED_RANGES'>,
): WebhookSettings {
  const defaults = config.MONGODB_URI === undefined ? EMBEDDED : { master: undefined, ranges: [] };
  return {
    master: config.WEBHOOK_SECRET ?? defaults.master,
    ranges: config.WEBHOOK_ALLOWED_RANGES ?? defaults.ranges,
  };
}
