import { BODY_HEADERS } from './body';
import { OMITTED, SUCCESS_HEADERS } from './answer';
import type { Exchange } from './exchange';

/** Apollo Studio may call /graphql, for its Sandbox. */
const STUDIO = 'https://studio.apollographql.com';
/** Header names, spaces and commas. Answers repeat these and the origin, so both are bounded, by more than any client sends. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~, -]{1,1000}$/;
const LONGEST_ORIGIN = 300;
/** Response headers that scripts may read: all that are sent, except those that browsers always expose (checked by a test). */
const EXPOSED_HEADERS = [
  ...SUCCESS_HEADERS,
  'Retry-After',
  'WWW-Authenticate',
  'Allow',
  ...BODY_HEADERS,
  'Link',
  'Location',
  'ETag',
  'Idempotent-Replayed',
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Range',
  OMITTED,
  'Deprecation',
  'Sunset',
  'Traceparent',
  'Date',
  'Vary',
].join(', ');
/** How long browsers may cache a preflight response, in seconds. */
const MAX_AGE = 600;

interface CorsOptions {
  readonly origins: readonly string[];
  /** The methods of every route. */
  readonly methods: readonly string[];
  readonly isGraphql: boolean;
}

/** Sets the CORS headers, never allowing credentials. Returns true if the request was a preflight, which is then answered. */
export function applyCors({ request, response }: Exchange, origin: string, options: CorsOptions): boolean {
  const { origins, methods, isGraphql } = options;
  response.appendHeader('Vary', 'Origin');
  const isListed = origins.includes(origin) || (isGraphql && origin === STUDIO);
  const isAllowed = isListed || (origins.includes('*') && origin.length <= LONGEST_ORIGIN);
  if (isAllowed) {
    response.setHeader('Access-Control-Allow-Origin', origin);
    response.setHeader('Access-Control-Expose-Headers', EXPOSED_HEADERS);
  }
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false;
  response.appendHeader('Vary', 'Access-Control-Request-Headers');
  if (isAllowed) {
    response.setHeader('Access-Control-Allow-Methods', methods.join(', '));
    response.setHeader('Access-Control-Max-Age', MAX_AGE);
    // allow any header: a page that may read answers can do no more harm with one, and clients add their own
    const { 'access-control-request-headers': wanted = '' } = request.headers;
    if (HEADER_NAMES.test(wanted)) response.setHeader('Access-Control-Allow-Headers', wanted);
  }
  response.statusCode = 204;
  response.end();
  return true;
}
