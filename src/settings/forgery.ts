import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors';

/* Protection against cross-site request forgery. */

/** The CSRF token of a session, which only pages of that session contain. */
export function csrfToken(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url');
}

/** @throws AppError forbidden unless the token is the session's */
export function checkCsrf(given: unknown, sessionToken: string): void {
  const expected = Buffer.from(csrfToken(sessionToken));
  const actual = Buffer.from(typeof given === 'string' ? given : '');
  if (actual.length === expected.length && timingSafeEqual(actual, expected)) return;
  throw new AppError('forbidden', 'The CSRF token is missing or invalid. Reload the page.');
}

/** @throws AppError forbidden for a change requested by a page of another origin; non-browser callers send no Origin */
export function checkOrigin({ headers }: IncomingMessage, publicUrl: string | undefined): void {
  const { origin } = headers;
  const site = headers['sec-fetch-site'];
  const isOwn =
    origin === undefined ||
    (publicUrl === undefined ? URL.canParse(origin) && new URL(origin).host === headers.host : origin === publicUrl);
  if (isOwn && (site === undefined || site === 'same-origin' || site === 'none')) return;
  throw new AppError('forbidden', 'Cross-site requests are not allowed.');
}
