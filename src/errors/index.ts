import type { FaultCode } from './faultCodes';

export type { FaultCode } from './faultCodes';

/**
 * The only error type shown to callers, and the table of its codes. Apart from the status number this is independent of
 * HTTP and GraphQL: http/problem.ts writes an AppError for every API and page, in GraphQL with the body of graphql/errors.ts.
 */

/**
 * Whether to retry a request. Shown at /errors/{code} and in the guide for integrators; the packages in clients/ follow it.
 */
export const RETRIES = {
  after: 'Retry after the number of seconds in `Retry-After`. Retry writes with the same `Idempotency-Key`.',
  again:
    'Nothing was stored. Without `errors`, retry the same request with increasing delays; with them a retry fails again.',
  keyed: 'Retry reads. Retry writes with the same `Idempotency-Key`, so that they happen only once.',
  no: 'Do not retry: the same request fails again. Change the request or the key first.',
} as const;

export type Retry = keyof typeof RETRIES;

/** Default Retry-After, in seconds. */
export const RETRY_AFTER = 2;

/** Every error code: its HTTP status, its title, what the caller can do, and whether to retry. Shown at /errors/{code}. */
export const ERROR_CODES = {
  invalid_request: {
    status: 400,
    retry: 'no',
    title: 'Invalid request',
    help: 'The request is malformed: invalid JSON or GraphQL, an unknown or invalid parameter, an id that is not a UUID, a cursor from a different list, or a GraphQL query over a limit, or a read whose answer would be larger than 16 MiB, or has a number that another program stored and no answer can hold: `detail` names object and member. `errors` lists invalid parameters; for GraphQL the message names the limit and the actual value.',
  },
  unauthenticated: {
    status: 401,
    retry: 'no',
    title: 'Unauthenticated',
    help: 'Send a valid API key as `Authorization: Bearer <key>`. The response is the same for a missing, malformed, unknown, expired or revoked key, and for one that is not allowed from the caller’s address: an admin sees which in the settings, under Requests.',
  },
  insufficient_scope: {
    status: 403,
    retry: 'no',
    title: 'Insufficient scope',
    help: 'The key is valid but lacks the scope named in `required_scope`. Ask an admin of the organisation to add it to the key.',
  },
  forbidden: {
    status: 403,
    retry: 'no',
    title: 'Forbidden',
    help: 'Whoever calls may not do this at all: not this key, whatever its scopes, or not this user. From REST a key gets it only if it is for some customers (`customer_ids`) and nobody can say whose objects of that type are.',
  },
  organisation_suspended: {
    status: 403,
    retry: 'no',
    title: 'Organisation suspended',
    help: 'The operator has suspended the organisation, or is erasing it: all its keys and users get this. The data of a suspended organisation is kept, and access works as soon as it is resumed.',
  },
  plan_required: {
    status: 403,
    retry: 'no',
    title: 'Plan required',
    help: "The organisation's plan does not include API access. Access works as soon as the plan includes it.",
  },
  not_found: {
    status: 404,
    retry: 'no',
    title: 'Not found',
    help: "The route does not exist, or the object does not exist in the key's organisation.",
  },
  method_not_allowed: {
    status: 405,
    retry: 'no',
    title: 'Method not allowed',
    help: 'The route does not support this method. `Allow` lists the methods it supports.',
  },
  not_acceptable: {
    status: 406,
    retry: 'no',
    title: 'Not acceptable',
    help: 'Responses are application/json: include it in `Accept`, or omit the header. Those of GraphQL can be text/event-stream, and those of its subscriptions must be.',
  },
  idempotency_in_progress: {
    status: 409,
    retry: 'after',
    title: 'Idempotency key in progress',
    help: 'A request with the same Idempotency-Key is still running.',
  },
  conflict: {
    status: 409,
    retry: 'again',
    title: 'Conflict',
    help: 'Another object has a value that only one may have: `errors` names the member, and a retry fails again. Without `errors`, other requests kept changing the same objects, even after internal retries.',
  },
  cursor_expired: {
    status: 410,
    retry: 'no',
    title: 'Cursor expired',
    help: 'Events are kept for 30 days, and those after this cursor are no longer complete. Copy the data again, then go on from `after=now` read before the copy.',
  },
  precondition_failed: {
    status: 412,
    retry: 'no',
    title: 'Precondition failed',
    help: 'The object is not in a version that `If-Match` names (in GraphQL `if_match`), or in one that the `If-None-Match` of a write names, and nothing was stored. Read it again, and repeat the change if it still makes sense.',
  },
  payload_too_large: {
    status: 413,
    retry: 'no',
    title: 'Payload too large',
    help: 'The body is too large: the limit is 1 MiB, 5 MiB for bulk calls, or 10 MiB for an attachment. Split it into smaller requests. Or a write changes more than the database takes in one transaction (many elements full of different words): send fewer at a time.',
  },
  unsupported_media_type: {
    status: 415,
    retry: 'no',
    title: 'Unsupported media type',
    help: 'Send the body as `Content-Type: application/json` in UTF-8, uncompressed. An attachment has one of the types that `Accept` lists, and its bytes must be of it.',
  },
  range_not_satisfiable: {
    status: 416,
    retry: 'no',
    title: 'Range not satisfiable',
    help: 'The `Range` begins after the end of the file, whose length `Content-Range` has. A complete file needs no other request.',
  },
  validation_failed: {
    status: 422,
    retry: 'no',
    title: 'Validation failed',
    help: 'The body is well-formed but invalid. `errors` lists each fault with a JSON Pointer to it.',
  },
  idempotency_key_reused: {
    status: 422,
    retry: 'no',
    title: 'Idempotency key reused',
    help: 'The Idempotency-Key was already used with a different request. Use a new key for each new request.',
  },
  quota_exceeded: {
    status: 422,
    retry: 'no',
    title: 'Quota exceeded',
    help: 'The organisation stores as much as it may, and nothing more was stored. Reading works. The operator can raise the limit or remove data; writes then work again within seconds.',
  },
  rate_limited: {
    status: 429,
    retry: 'after',
    title: 'Rate limited',
    help: 'The key has used its points for this minute, or too many requests from this address failed authentication. A REST request costs one point. A GraphQL request costs one per root field, plus one for each full 1,000 rows it can return in the worst case and, for a document that is new to the gateway, for each 200 tokens begun after the first 200. A bulk call costs one for each 100 elements begun. Requests without a valid key, including introspection, are limited per address.',
  },
  stored_object_invalid: {
    status: 500,
    retry: 'no',
    title: 'Stored object invalid',
    help: 'Another program stored the object in a form that the API cannot show; `errors` names the member. Lists leave such objects out, and say how many in `Scopegate-Omitted`. Whoever runs the gateway has to correct the object in the database.',
  },
  internal: {
    status: 500,
    retry: 'keyed',
    title: 'Internal error',
    help: 'Something went wrong on our side. The error is logged under the `request_id`; include it when you contact support.',
  },
  unavailable: {
    status: 503,
    retry: 'after',
    title: 'Unavailable',
    help: 'The database is not responding, or too many requests are in progress: in total, or for this key or organisation. Or the organisation is being moved, the gateway is stopping, or events are not recorded. `detail` says which.',
  },
} as const satisfies Record<string, { status: number; retry: Retry; title: string; help: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;
/** All codes, in the order of the table. */
export const CODES = Object.keys(ERROR_CODES) as ErrorCode[];

/** One fault of a request: its place (a JSON Pointer into the body, or a parameter name), code and message. */
export interface Fault {
  readonly pointer?: string;
  readonly parameter?: string;
  readonly code: FaultCode;
  readonly detail: string;
}

/** Maximum faults listed in a response; the rest are counted. */
export const MAX_FAULTS = 100;

/** The faults of a value; it is valid if there are none. */
export interface Findings {
  /** The first faults, at most {@link MAX_FAULTS}. */
  readonly faults: readonly Fault[];
  /** How many others were counted. */
  readonly more: number;
  /** Whether counting stopped early, so there may be more than `more`. */
  readonly isTruncated: boolean;
}

/** How many faults a check reports. */
export interface FaultLimits {
  readonly kept: number;
  /** How many more it counts before it skips the remaining elements of a list. */
  readonly counted: number;
}

/** Checks a value. By default it keeps {@link MAX_FAULTS} and counts all others. */
export type Check = (value: unknown, limits?: FaultLimits) => Findings;

/** Truncates a caller's text to `most` characters, for use in a response. */
export function shorten(text: string, most = 100): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}

/** Why a request gets 503, for logs and metrics; callers read `detail`. */
export const UNAVAILABLE_REASONS = [
  // the database does not respond or cannot serve, or took too long
  'away',
  'slow',
  // too much is in progress
  'shed',
  // the organisation is being moved to another shard, or erased
  'moving',
  'erased',
  'draining',
  // events are not recorded, or nobody reads the stream or answer
  'not_recorded',
  'unread',
  // the operator must fix WEBHOOK_SECRET or the identity provider
  'webhooks',
  'sign_in',
] as const;
export type UnavailableReason = (typeof UNAVAILABLE_REASONS)[number];

export interface AppErrorExtras {
  /** The scope that was missing, as `resource:action`. */
  readonly requiredScope?: string;
  readonly errors?: readonly Fault[];
  /** How many faults `errors` leaves out. */
  readonly moreErrors?: number;
  /** Seconds to wait before a retry. */
  readonly retryAfter?: number;
  /** Methods that the route supports, for 405. */
  readonly allow?: readonly string[];
  /** Headers that say what the route takes, for 415, or what the file has, for 416. */
  readonly accepts?: Readonly<Record<string, string>>;
  /** HTTP status, if it is not that of the code. */
  readonly status?: 417;
  /** Why the code is `unavailable`. */
  readonly reason?: UnavailableReason;
  /** The shard that does not respond. */
  readonly shard?: string;
}

/** An error meant for the caller. Any other error is masked as `internal`. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly status: number;
  readonly extras: AppErrorExtras;

  constructor(code: Exclude<ErrorCode, 'unavailable'>, detail: string, extras?: AppErrorExtras);
  constructor(code: ErrorCode, detail: string, extras: AppErrorExtras & { readonly reason: UnavailableReason });
  constructor(
    readonly code: ErrorCode,
    /** What happened, in a sentence for the caller. */
    readonly detail: string,
    extras: AppErrorExtras = {},
  ) {
    super(detail);
    const { status, retry } = ERROR_CODES[code];
    this.status = extras.status ?? status;
    // every error that is retried after a while has Retry-After, wherever it is thrown
    this.extras = retry === 'after' ? { retryAfter: RETRY_AFTER, ...extras } : extras;
  }

  get title(): string {
    return ERROR_CODES[this.code].title;
  }
}

/** Retry-After, in seconds, while an organisation is being moved. */
const MOVED_AFTER = 5;

/** 503 while an organisation is being moved. */
export function movingError(): AppError {
  const detail = 'The organisation is being moved to another shard; nothing was read or stored.';
  return new AppError('unavailable', detail, { reason: 'moving', retryAfter: MOVED_AFTER });
}

/** 404 for an object, called `name`: the same message whether it never existed or belongs to another organisation. */
export function notFound(name: string): AppError {
  return new AppError('not_found', `There is no such ${name.replaceAll('_', ' ')}.`);
}

/** 400 with the invalid parameters, and the number of others (`more`) that are not listed. */
export function invalidRequest(errors: readonly Fault[], more = 0): AppError {
  return new AppError('invalid_request', ...faultsOf(errors, more, 'The request is invalid.'));
}

/**
 * 422 with the faults of the body, and the number of others (`more`) that are not listed; at least that many if counting stopped early. 500 if
 * the caller can mend none of them: a `rule` is code of the schema that threw.
 */
export function validationFailed(errors: readonly Fault[], more = 0, isTruncated = false): AppError {
  const isOurs = errors.length > 0 && errors.every(({ code }) => code === 'rule');
  const code = isOurs ? 'internal' : 'validation_failed';
  return new AppError(code, ...faultsOf(errors, more, 'The body is invalid.', isTruncated));
}

function faultsOf(
  all: readonly Fault[],
  more: number,
  otherwise: string,
  isTruncated = false,
): [string, AppErrorExtras] {
  const errors = all.length > MAX_FAULTS ? all.slice(0, MAX_FAULTS) : all;
  const moreErrors = more + all.length - errors.length;
  return [summary(errors, moreErrors, otherwise, isTruncated), { errors, ...(moreErrors > 0 && { moreErrors }) }];
}

function summary(errors: readonly Fault[], more: number, otherwise: string, isTruncated: boolean): string {
  const [first] = errors;
  if (first === undefined) return otherwise;
  // that there are too many already is no fault of the body
  if (first.pointer === '' && first.code === 'too_many')
    return first.detail.replace(/^./, (letter) => letter.toUpperCase());
  const where = first.parameter ?? (first.pointer === '' ? 'the body' : first.pointer);
  const others = errors.length - 1 + more;
  return `${where ?? 'request'}: ${first.detail}${others > 0 ? ` (and ${isTruncated ? 'at least ' : ''}${String(others)} more)` : ''}`;
}

/** An error and its causes: libraries may wrap an error several times. */
export function* chainOf(error: unknown): Generator<Error> {
  for (let current = error, depth = 0; current instanceof Error && depth < 8; depth += 1) {
    yield current;
    current = (current as { originalError?: unknown }).originalError ?? current.cause;
  }
}

/** The AppError inside an error; undefined if there is none. */
export function findAppError(error: unknown): AppError | undefined {
  for (const current of chainOf(error)) if (current instanceof AppError) return current;
  return undefined;
}
