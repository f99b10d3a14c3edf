import { InvalidArgumentError } from 'commander';
import { secretFrom } from '../../webhooks/signing';
import { items } from '../common/values';

/** Names separated by commas. */
export function names(text: string): string[] {
  const given = items(text);
  if (given.length === 0) throw new InvalidArgumentError('Expected at least one type, e.g. order.created.');
  return [...new Set(given)];
}

/** The URL of an HTTP server, without a slash at its end. */
export function httpUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError(
      'Expected a URL that begins with http:// or https://, e.g. http://localhost:3000/webhooks.',
    );
  if (url.username !== '' || url.password !== '')
    throw new InvalidArgumentError('Expected a URL without user name and password.');
  url.hash = '';
  return url.href.replace(/\/$/, '');
}

/** A secret as an endpoint has one. */
export function webhookSecret(text: string): Buffer {
  const secret = secretFrom(text);
  if (!secret) throw new InvalidArgumentError('Expected whsec_ and 24 to 64 bytes in base64.');
  return secret;
}
