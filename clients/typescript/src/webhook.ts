import type { components } from './openapi.js';

/** As Node, the Fetch API or a framework has them; names in any case. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request is not a webhook signed with this secret, or not a recent one. Answer 401. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/**
 * Checks the signature of a webhook (Standard Webhooks) and returns its event. The same event can come again: remember its `id`.
 * @param rawBody the bytes as received, before anything parsed them
 * @param secret of the endpoint, `whsec_…`; several while it is replaced
 * @param options `tolerance`: how far `webhook-timestamp` may be from this clock, in seconds, so that a recorded webhook is not accepted later
 * @throws WebhookVerificationError, and a TypeError for a malformed secret or outside Node
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { tolerance = 300 }: { readonly tolerance?: number } = {},
): components['schemas']['Event'] {
  // not imported, since a page uses the rest of this package
  const { createHmac, timingSafeEqual } = process.getBuiltinModule('node:crypto');
  const secrets = [secret].flat().map(bytesOf);
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature')
    .split(' ')
    .map((one) => Buffer.from(one));

  const age = /^\d+$/.test(timestamp) ? Math.abs(Date.now() / 1000 - Number(timestamp)) : Infinity;
  // not the other way round, which would take any age if the tolerance is NaN
  if (!(age <= tolerance)) throw new WebhookVerificationError('webhook-timestamp is too far from this clock.');
  const isSigned = secrets.some((key) => {
    const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(rawBody).digest('base64');
    const expected = Buffer.from(`v1,${digest}`);
    return signatures.some((given) => given.length === expected.length && timingSafeEqual(given, expected));
  });
  if (!isSigned) throw new WebhookVerificationError('No signature in webhook-signature is of this body and a secret.');
  return JSON.parse(Buffer.from(rawBody).toString()) as components['schemas']['Event'];
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const value = entries.find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookVerificationError(`There is no header ${name}.`);
}

function bytesOf(secret: string): Buffer {
  // Buffer ignores what is no base64
  if (!/^whsec_[A-Za-z\d+/]{32,}={0,2}$/.test(secret)) throw new TypeError('A webhook secret is whsec_ and base64.');
  return Buffer.from(secret.slice('whsec_'.length), 'base64');
}
