/* Units and formats shared by several folders. */

/** In milliseconds. */
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The times that can be stored and shown, in milliseconds since 1970: the years 0001 to 9999. */
export const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z');
export const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * How long an organisation's events and webhook deliveries are kept, in milliseconds. The indexes that delete them have this time, and what exists
 * is not made anew, so another time needs other indexes (docs/decisions/control-schema.md); the SDL, the contract and messages say `30 days`, too.
 */
export const EVENTS_KEPT_FOR = 30 * DAY;

/** Wait before each attempt to send a webhook, in milliseconds, as Standard Webhooks recommends: 10 attempts in 75 hours. */
export const ATTEMPT_WAITS = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR),
];
/** How long a webhook is sent again, in whole hours. */
export const RETRIED_HOURS = Math.floor(ATTEMPT_WAITS.reduce((sum, wait) => sum + wait, 0) / HOUR);
/** A webhook endpoint is failing after failures of this many objects in a row. */
export const ENDPOINT_FAILING_AFTER = 10;
/** A webhook endpoint with nothing but failures is disabled after this long, in milliseconds. */
export const ENDPOINT_DISABLED_AFTER = 5 * DAY;

/** In bytes. */
export const MEBIBYTE = 1024 * 1024;

/** Maximum size of the JSON that answers a read, in bytes (contract, section 6). */
export const MAX_ANSWER = 16 * MEBIBYTE;

/** Elements of a bulk call, or lines, that cost a point; each hundred begun costs one (contract, section 6). */
export const ELEMENTS_PER_POINT = 100;

/**
 * Bytes of a line that import takes and export writes, to bound their memory: twice those of a MongoDB document, since JSON escapes, and a thread has
 * its messages. The ids of as many messages as fit make a command of MongoDB.
 */
export const LONGEST_LINE = 32 * MEBIBYTE;

/** Path prefix of the REST API. */
export const REST_BASE = '/api/v1';

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** An id as rows have it: in lower case, in which ids are looked up. */
export const STORED_ID = new RegExp(UUID.source);

/** Control characters, line separators, and characters that change the direction of text, so that it could show as another than it is. */
export const HIDDEN_CHARACTER = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

/** The wait that a `Retry-After` header asks for, in ms: its seconds, or the time from `now` until its HTTP date. Undefined if it has neither. */
export function retryAfterOf(header: string | null | undefined, now = Date.now()): number | undefined {
  if (header === null || header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * SECOND;
  // HTTP dates are in GMT; the oldest of their three forms does not say so
  const date = /^[A-Z][a-z]+,? /.test(header) ? Date.parse(header.replace(/( GMT)?$/, ' GMT')) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Maximum length of the name of a GraphQL operation in the request log; the rest is cut off. */
export const OPERATION_NAME_LENGTH = 100;

/** Maximum length of a request's operation in both logs: of GraphQL its root fields, separated by spaces, of which the rest is cut off. */
export const LOGGED_OPERATION_LENGTH = 200;

/** Before an external_ref, where a caller of the operator API may name something by it in place of an id. */
export const REF_PREFIX = 'ref:';

/** Whether a text names something by its external_ref, which has 1 to 200 characters, of at most two UTF-16 units. */
export function isRef(text: string): boolean {
  const length = text.length - REF_PREFIX.length;
  return text.startsWith(REF_PREFIX) && length >= 1 && length <= 400;
}

/** What a name is: an id, which is given in lower case, or `ref:` and an external_ref, which is given without the prefix. */
export function splitName(
  name: string,
): { readonly id: string; readonly ref?: undefined } | { readonly ref: string; readonly id?: undefined } {
  return isRef(name) ? { ref: name.slice(REF_PREFIX.length) } : { id: name.toLowerCase() };
}

/** {@link splitName} of several names. */
export function splitNames(names: readonly string[]): { readonly ids: string[]; readonly refs: string[] } {
  return {
    ids: names.flatMap((name) => splitName(name).id ?? []),
    refs: names.flatMap((name) => splitName(name).ref ?? []),
  };
}

/** An id, or another value of a row, as a text. Another program's may be of any type, even an object with a member `toString`, which `String` refuses. */
export function idText(id: unknown): string {
  try {
    return String(id);
  } catch {
    return JSON.stringify(id);
  }
}

/** Memory of a decoded row as a multiple of its BSON bytes, on average: 1 if most of it is long texts, 2 to 3 if it has many short ones. */
export const DECODED = 2;

/** Maximum groups of a @totals field: enough for two years by month, six statuses and six customers, and still fast to draw. */
export const TOTALS_ROWS = 1000;
