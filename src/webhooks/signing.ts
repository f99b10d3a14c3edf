import { createHmac, hkdfSync } from 'node:crypto';

/*
 * Standard Webhooks, version 1 (https://github.com/standard-webhooks/standard-webhooks): HMAC-SHA256 of id, time and body, joined by
 * dots, in base64. Receivers can verify it with any of its libraries.
 */

/** The least that the specification allows. */
const SECRET_BYTES = 24;
const PREFIX = 'whsec_';

/** The secret of an endpoint, derived from the master secret so that it is stored nowhere. Each rotation raises `version`. */
export function endpointSecret(master: string, endpoint: string, version: number): Buffer {
  return Buffer.from(hkdfSync('sha256', master, 'scopegate webhooks', `${endpoint}:${String(version)}`, SECRET_BYTES));
}

/** A secret as people see it: `whsec_` and base64. */
export const secretText = (secret: Buffer): string => PREFIX + secret.toString('base64');

/** Parses the result of `secretText`; undefined for any other string. */
export function secretFrom(text: string): Buffer | undefined {
  if (!text.startsWith(PREFIX)) return undefined;
  const secret = Buffer.from(text.slice(PREFIX.length), 'base64');
  // sizes that the specification allows
  return secret.length >= SECRET_BYTES && secret.length <= 64 && secretText(secret) === text ? secret : undefined;
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
