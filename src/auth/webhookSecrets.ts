/* Secrets of webhooks in the form of Standard Webhooks: `whsec_` and base64. */

const PREFIX = 'whsec_';
/** The sizes that the specification allows, in bytes. */
const SECRET_BYTES = { least: 24, most: 64 } as const;

export const secretText = (secret: Buffer): string => PREFIX + secret.toString('base64');

/** Parses the result of `secretText`; undefined for any other string, and for a secret of another size. */
export function secretFrom(text: string): Buffer | undefined {
  if (!text.startsWith(PREFIX)) return undefined;
  const secret = Buffer.from(text.slice(PREFIX.length), 'base64');
  const hasSize = secret.length >= SECRET_BYTES.least && secret.length <= SECRET_BYTES.most;
  return hasSize && secretText(secret) === text ? secret : undefined;
}
