import type { Config } from '../config';

/* What the environment says of webhooks. */

/** Loopback, so that a receiver on this machine can be tried. */
export const EMBEDDED_RANGES = '127.0.0.0/8,::1/128';

/** Of the embedded database only, which is not for production: it has no secrets to keep either. */
const EMBEDDED = {
  master: 'scopegate: the embedded database has this webhook secret',
  ranges: EMBEDDED_RANGES.split(','),
};

export const NO_SECRET =
  'WEBHOOK_SECRET is not set, so webhook endpoints cannot be made; set it to the same value for every gateway and command (openssl rand -hex 32 makes one)';

/** The master secret, without which no endpoint can be made, and ranges that are allowed although they are not public. */
export function webhookSettings(config: Pick<Config, 'MONGODB_URI' | 'WEBHOOK_SECRET' | 'WEBHOOK_ALLOWED_RANGES'>) {
  const defaults = config.MONGODB_URI === undefined ? EMBEDDED : { master: undefined, ranges: [] };
  return {
    master: config.WEBHOOK_SECRET ?? defaults.master,
    ranges: config.WEBHOOK_ALLOWED_RANGES ?? defaults.ranges,
  };
}
