import { createHmac, hkdfSync } from 'node:crypto';

/*
 * Standard Webhooks, version 1 (https://github.com/standard-webhooks/standard-webhooks): HMAC-SHA256 of id, time and body, joined by
 * dots, in base64. Receivers can verify it with any of its libraries.
 */

/** Bytes of a derived secret. Never change it: receivers keep the secrets that they were given. */
const DERIVED_BYTES = 24;

/** The secret of an endpoint, derived from the master secret so that it is stored nowhere. Each rotation raises `version`. */
export function endpointSecret(master: string, endpoint: string, version: number): Buffer {
  return Buffer.from(hkdfSync('sha256', master, 'scopegate webhooks', `${endpoint}:${String(version)}`, DERIVED_BYTES));
}

export interface Message {
  /** The event's id, the same at each attempt. */
  readonly id: string;
  /** When this attempt is made, in whole seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

/** The headers of a webhook, signed with each secret: two while one is being replaced. */
export function signedHeaders({ id, timestamp, body }: Message, secrets: readonly Buffer[]): Record<string, string> {
  const signed = `${id}.${String(timestamp)}.${body}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': secrets
      .map((secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`)
      .join(' '),
  };
}
