import { type Exchange, SUCCESS_HEADERS } from './exchange';

/** Apollo Studio may call /graphql, for its Sandbox. */
const STUDIO = 'https://studio.apollographql.com';
const ALLOWED_HEADERS =
  'Authorization, Content-Type, Accept, Idempotency-Key, If-Match, If-None-Match, X-Request-Id, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Apollo-Require-Preflight, X-Apollo-Operation-Name';
/** Response headers that scripts may read: all in the OpenAPI document or set on an exchange (checked by a test). */
const EXPOSED_HEADERS = [
  ...SUCCESS_HEADERS,
  'Retry-After',
  'WWW-Authenticate',
  'Allow',
  'Link',
  'Location',
  'ETag',
  'Idempotent-Replayed',
  'Deprecation',
  'Sunset',
].join(', ');
/** How long browsers may cache a preflight response, in seconds. */
const MAX_AGE = 600;

interface CorsOptions {
  readonly origins: readonly string[];
  /** The methods of every route. */
  readonly methods: readonly string[];
  readonly isGraphql: boolean;
}

/** Sets the CORS headers, never allowing credentials; true if the request was a preflight, which is then answered. */
export function applyCors(exchange: Exchange, { origins, methods, isGraphql }: CorsOptions): boolean {
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
    response.setHeader('Access-Control-Allow-Methods', methods.join(', '));
    response.setHeader('Access-Control-Allow-Headers', ALLOWED_HEADERS);
    response.setHeader('Access-Control-Max-Age', MAX_AGE);
  }
  response.statusCode = 204;
  response.end();
  return true;
}
