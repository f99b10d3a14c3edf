import type { components } from './openapi.js';

/** As Node, the Fetch API or a framework provides them; names can have any case. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The request is not a recent webhook signed with this secret. Answer 401. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/**
 * Verifies the signature of a webhook (Standard Webhooks) and returns its event. The same event can come again: remember its `id`.
 * @param rawBody the body as received, before anything parsed it
 * @param secret the endpoint's, `whsec_…`; several during a rotation
 * @param options `tolerance`: maximum age of `webhook-timestamp` in seconds, so that a recorded webhook is not accepted later
 * @throws WebhookVerificationError, and a TypeError for a malformed secret or outside Node
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { tolerance = 300 }: { readonly tolerance?: number } = {},
): components['schemas']['Event'] {
  // not imported, since browsers use the rest of this package
  const { createHmac, timingSafeEqual } = process.getBuiltinModule('node:crypto');
  const secrets = [secret].flat().map(bytesOf);
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature')
    .split(' ')
    .map((one) => Buffer.from(one));

  const age = /^\d+$/.test(timestamp) ? Math.abs(Date.now() / 1000 - Number(timestamp)) : Infinity;
  // not `age > tolerance`, which would accept any age if the tolerance is NaN
  if (!(age <= tolerance)) throw new WebhookVerificationError('webhook-timestamp is too far from the current time.');
  const isSigned = secrets.some((key) => {
    const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(rawBody).digest('base64');
    const expected = Buffer.from(`v1,${digest}`);
    return signatures.some((given) => given.length === expected.length && timingSafeEqual(given, expected));
  });
  if (!isSigned) throw new WebhookVerificationError('No signature in webhook-signature matches.');
  return JSON.parse(Buffer.from(rawBody).toString()) as components['schemas']['Event'];
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const value = entries.find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookVerificationError(`The header ${name} is missing.`);
}

function bytesOf(secret: string): Buffer {
  // Buffer ignores characters that are not base64
  if (!/^whsec_[A-Za-z\d+/]{32,}={0,2}$/.test(secret))
    throw new TypeError('A webhook secret is whsec_ followed by base64.');
  return Buffer.from(secret.slice('whsec_'.length), 'base64');
}
