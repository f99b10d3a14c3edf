import type { Exchange } from './exchange';

/** Apollo Studio's own pages may call /graphql, as its Sandbox does. */
const STUDIO = 'https://studio.apollographql.com';
const ALLOWED_HEADERS =
  'Authorization, Content-Type, Accept, Idempotency-Key, If-None-Match, X-Request-Id, Apollo-Require-Preflight, X-Apollo-Operation-Name';
/** Headers of answers that scripts may read: every one that the OpenAPI document or an exchange names (held by a test). */
const EXPOSED_HEADERS = [
  'X-Request-Id',
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Api-Key-Expires-At',
  'Retry-After',
  'WWW-Authenticate',
  'Allow',
  'Link',
  'Location',
  'ETag',
  'Idempotent-Replayed',
].join(', ');
/** Seconds a browser may keep a preflight's answer. */
const MAX_AGE = 600;

/** Says which pages may read an answer; true when the request was a preflight and is answered. Cookies are never let in. */
export function applyCors(exchange: Exchange, origins: readonly string[], isGraphql: boolean): boolean {
  const { request, response } = exchange;
  const { origin } = request.headers;
  if (origin === undefined) return false;
  response.appendHeader('Vary', 'Origin');
  const isAllowed = origins.includes('*') || origins.includes(origin) || (isGraphql && origin === STUDIO);
  if (isAllowed) {
    response.setHeader('Access-Control-Allow-Origin', origin);
    response.setHeader('Access-Control-Expose-Headers', EXPOSED_HEADERS);
  }
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false;
  if (isAllowed) {
    response.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, POST');
    response.setHeader('Access-Control-Allow-Headers', ALLOWED_HEADERS);
    response.setHeader('Access-Control-Max-Age', MAX_AGE);
  }
  response.statusCode = 204;
  response.end();
  return true;
}
