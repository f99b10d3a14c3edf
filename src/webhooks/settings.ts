import type { Config } from '../config';

/** Loopback, for trying out a receiver on this machine. */
export const LOOPBACK_RANGES = '127.0.0.0/8,::1/128';

/** Used only with the embedded database, which is not for production and has no secrets to keep. */
const EMBEDDED = {
  master: 'scopegate: the embedded database has this webhook secret',
  ranges: LOOPBACK_RANGES.split(','),
};

export const NO_SECRET =
  'WEBHOOK_SECRET is not set, so webhook endpoints cannot be created; set it to the same value for every gateway and command (openssl rand -hex 32 generates one)';

export type WebhookConfig = Pick<
  Config,
  'MONGODB_URI' | 'WEBHOOK_SECRET' | 'WEBHOOK_SECRET_PREVIOUS' | 'WEBHOOK_ALLOWED_RANGES'
>;

/** The master secrets, without which no endpoint can be created, and ranges of addresses to which webhooks may be sent even if they are not public. */
export function webhookSettings(config: WebhookConfig) {
  const defaults = config.MONGODB_URI === undefined ? EMBEDDED : { master: undefined, ranges: [] };
  const current = config.WEBHOOK_SECRET ?? defaults.master;
  return {
    masters: current === undefined ? undefined : { current, previous: config.WEBHOOK_SECRET_PREVIOUS },
    ranges: config.WEBHOOK_ALLOWED_RANGES ?? defaults.ranges,
  };
}
