import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors';

/* Requests that another site makes a signed-in browser send. */

/** The CSRF token of a session: only who has read a page of this session can know it. */
export function csrfToken(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url');
}

/** @throws AppError forbidden unless the token is the session's */
export function checkCsrf(given: unknown, sessionToken: string): void {
  const expected = Buffer.from(csrfToken(sessionToken));
  const actual = Buffer.from(typeof given === 'string' ? given : '');
  if (actual.length === expected.length && timingSafeEqual(actual, expected)) return;
  throw new AppError('forbidden', 'The CSRF token of this session is missing or wrong; load the page again.');
}

/** @throws AppError forbidden for a change that a page of another origin asks for; callers that are no browsers send no Origin */
export function checkOrigin({ headers }: IncomingMessage, publicUrl: string | undefined): void {
  const { origin } = headers;
  const site = headers['sec-fetch-site'];
  const isOwn =
    origin === undefined ||
    (publicUrl === undefined ? URL.canParse(origin) && new URL(origin).host === headers.host : origin === publicUrl);
  if (isOwn && (site === undefined || site === 'same-origin' || site === 'none')) return;
  throw new AppError('forbidden', 'This was asked for by a page of another site.');
}
