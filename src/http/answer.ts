import type { IncomingMessage, ServerResponse } from 'node:http';
import { type KeyRateState, type RateState, secondsUntilReset, WINDOW_SECONDS } from '../admission/rateLimit';
import type { KeyPrincipal } from '../auth/principal';
import type { Sunset } from '../schema/declaredOperations';
import { DAY } from '../units';

/* What the answers of all APIs have: their headers, and how a complete one is sent. */

/** Headers of a key's budget, set by {@link setRateHeaders}. */
export const BUDGET_HEADERS = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
] as const;

/** Headers of every response to a key; the last two only if the key expires soon or belongs to a sandbox, respectively. */
export const SUCCESS_HEADERS = ['X-Request-Id', ...BUDGET_HEADERS, 'X-Api-Key-Expires-At', 'Scopegate-Mode'] as const;

/** How long before its expiry, by this machine's clock, a key is reported as expiring, in milliseconds. */
const EXPIRY_WARNING = 7 * DAY;

/** The header that says how many rows were left out of an answer, since they cannot be served. */
export const OMITTED = 'Scopegate-Omitted';

/** The Content-Type of JSON in answers. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** Warns the caller of a key that expires soon, in time to rotate it. */
export function warnOfExpiry(response: ServerResponse, { key: { expiresAt } }: KeyPrincipal): void {
  if (expiresAt === null || expiresAt.getTime() - Date.now() > EXPIRY_WARNING) return;
  response.setHeader('X-Api-Key-Expires-At', expiresAt.toISOString());
}

/** RateLimit headers (draft-ietf-httpapi-ratelimit-headers-10), and the older X- ones, which cover the key alone and give the reset in Unix seconds. */
export function setRateHeaders(response: ServerResponse, state: KeyRateState): void {
  // an open stream goes on paying after its headers are sent
  if (response.headersSent) return;
  const budgets: [string, RateState][] = [['default', state]];
  if (state.organisation) budgets.push(['organisation', state.organisation]);
  const policies = budgets.map(([name, { limit }]) => `"${name}";q=${String(limit)};w=${String(WINDOW_SECONDS)}`);
  const left = budgets.map(
    ([name, rate]) => `"${name}";r=${String(rate.remaining)};t=${String(secondsUntilReset(rate))}`,
  );
  response.setHeader('RateLimit-Policy', policies.join(', '));
  response.setHeader('RateLimit', left.join(', '));
  response.setHeader('X-RateLimit-Limit', state.limit);
  response.setHeader('X-RateLimit-Remaining', state.remaining);
  response.setHeader('X-RateLimit-Reset', Math.ceil(state.resetAt.getTime() / 1000));
}

/** Announces the end of an operation that the request used; if it used several, the earliest end. */
export function setSunsetHeaders(response: ServerResponse, sunsets: readonly Sunset[]): void {
  const [first] = [...sunsets].sort((left, right) => left.on.getTime() - right.on.getTime());
  if (!first) return;
  response.setHeader('Deprecation', `@${String(first.since.getTime() / 1000)}`);
  response.setHeader('Sunset', first.on.toUTCString());
}

export function bytesOf(body: string | Buffer): Buffer {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

/** Sends a complete response, without the body for HEAD. */
export function send(
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  status: number,
  contentType: string,
  body: string | Buffer,
): void {
  if (response.headersSent) return;
  response.statusCode = status;
  response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.setHeader('X-Content-Type-Options', 'nosniff');
  if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', 'no-store');
  // otherwise Node would read the rest of a body that is over the limit
  if (status === 413) response.setHeader('Connection', 'close');
  response.end(request.method === 'HEAD' ? undefined : body);
}
