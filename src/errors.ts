/**
 * The one error a caller may see, and the one table of its codes. Nothing here knows HTTP or GraphQL beyond the status
 * number: each face renders an AppError in its own way (rest/problem.ts, graphql/errors.ts).
 */

/**
 * Whether the same request is worth sending again: the one table of it. Rendered at /errors/{code} and in the guide for integrators,
 * and what the clients in examples/ do.
 */
export const RETRIES = {
  after: 'Wait the seconds of `Retry-After`, then send it again; a write with the same `Idempotency-Key`.',
  again: 'Nothing was stored: send the same request again in a moment, and wait longer each time.',
  keyed: 'Reads: send it again. Writes: send it again with the same `Idempotency-Key`, so that it happens once.',
  no: 'Do not: the same request gets the same answer. Change it, or the key, first.',
} as const;

export type Retry = keyof typeof RETRIES;

/** Seconds that a caller who should wait is told, where nothing better is known. */
const RETRY_AFTER = 2;

/** Every error code: its HTTP status, its title, what the caller can do, and whether to try again. Rendered at /errors/{code}. */
export const ERROR_CODES = {
  invalid_request: {
    status: 400,
    retry: 'no',
    title: 'Invalid request',
    help: 'The request could not be read: malformed JSON or GraphQL, an unknown or ill-typed parameter, an id that is no UUID, a cursor that does not belong to this list, or a GraphQL query over a limit: depth 10, 20 root fields, 30 aliases, 5,000 fields after its fragments are expanded, 20,000 rows at worst, 100,000 objects in the lists of an answer. `errors` names each fault of a parameter, the message of a GraphQL error the limit and what was found.',
  },
  unauthenticated: {
    status: 401,
    retry: 'no',
    title: 'Unauthenticated',
    help: 'Send a valid API key as `Authorization: Bearer <key>`. A missing, malformed, unknown, expired and revoked key get this same answer.',
  },
  insufficient_scope: {
    status: 403,
    retry: 'no',
    title: 'Insufficient scope',
    help: 'The key is valid but lacks the scope named in `required_scope`. Ask an admin of the organisation for a key that holds it.',
  },
  forbidden: {
    status: 403,
    retry: 'no',
    title: 'Forbidden',
    help: 'Keys are managed by signed-in users on `/settings/integrations`, and changed by admins only; no API key may do it. Organisation data are read with an API key, not as a signed-in user.',
  },
  plan_required: {
    status: 403,
    retry: 'no',
    title: 'Plan required',
    help: "The organisation's plan does not include API access. It works again as soon as the plan does.",
  },
  not_found: {
    status: 404,
    retry: 'no',
    title: 'Not found',
    help: 'There is no such route, or no such object in the organisation of the key.',
  },
  method_not_allowed: {
    status: 405,
    retry: 'no',
    title: 'Method not allowed',
    help: 'The route exists, the method does not. `Allow` lists those that do.',
  },
  not_acceptable: {
    status: 406,
    retry: 'no',
    title: 'Not acceptable',
    help: 'Answers are application/json; let `Accept` include it, or leave it out.',
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
    help: 'Another request changed the same objects at the same moment, and did so again on each retry. Nothing of this request was stored.',
  },
  payload_too_large: {
    status: 413,
    retry: 'no',
    title: 'Payload too large',
    help: 'The body is larger than the route takes: 1 MiB, bulk calls 5 MiB. Send it in parts.',
  },
  unsupported_media_type: {
    status: 415,
    retry: 'no',
    title: 'Unsupported media type',
    help: 'Send the body as `Content-Type: application/json` in UTF-8, uncompressed.',
  },
  validation_failed: {
    status: 422,
    retry: 'no',
    title: 'Validation failed',
    help: 'The body was read but breaks a rule. `errors` lists every fault with a JSON Pointer to it.',
  },
  idempotency_key_reused: {
    status: 422,
    retry: 'no',
    title: 'Idempotency key reused',
    help: 'The same Idempotency-Key came with another body before. Use a new key for a new request.',
  },
  rate_limited: {
    status: 429,
    retry: 'after',
    title: 'Rate limited',
    help: 'The budget of this minute is spent, or too many requests from this address failed. A REST request costs one point, a GraphQL request one for each root field and one more for each full 1,000 rows that its lists can return at worst. Requests without a valid key, introspection included, are limited for each address.',
  },
  internal: {
    status: 500,
    retry: 'keyed',
    title: 'Internal error',
    help: 'Something failed on our side. It is logged under the `request_id`; quote it when you ask.',
  },
  unavailable: {
    status: 503,
    retry: 'after',
    title: 'Unavailable',
    help: 'The database does not answer at the moment, or too much is under way: of all callers together, or of this key or organisation alone, which `detail` says.',
  },
} as const satisfies Record<string, { status: number; retry: Retry; title: string; help: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The codes of the REST face: `forbidden` is for operations of signed-in users, which have no route. */
export const REST_ERROR_CODES = (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => code !== 'forbidden');

/** One fault of a request: where it is (a JSON Pointer into the body, or a parameter's name), its kind, and words. */
export interface Fault {
  readonly pointer?: string;
  readonly parameter?: string;
  readonly code: string;
  readonly detail: string;
}

/** Most faults that an answer lists; the others are counted. */
export const MOST_FAULTS = 100;

/** What is wrong with a value; no faults mean that it is valid. */
export interface Findings {
  /** The first faults, at most {@link MOST_FAULTS}. */
  readonly faults: readonly Fault[];
  /** How many there are besides. */
  readonly more: number;
}

/** A text that a caller sent, or that quotes one, as an answer may repeat it: at most so many characters. */
export function shorten(text: string, most = 100): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}

export interface AppErrorExtras {
  /** The scope that was missing, as `resource:action`. */
  readonly requiredScope?: string;
  readonly errors?: readonly Fault[];
  /** Faults besides those listed. */
  readonly moreErrors?: number;
  /** Seconds until another try makes sense. */
  readonly retryAfter?: number;
  /** Methods that the route takes, for 405. */
  readonly allow?: readonly string[];
}

/** An error meant for the caller. Anything else that is thrown is masked as `internal`. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly status: number;
  readonly extras: AppErrorExtras;

  constructor(
    readonly code: ErrorCode,
    /** What happened, in a sentence for the caller. */
    readonly detail: string,
    extras: AppErrorExtras = {},
  ) {
    super(detail);
    const { status, retry } = ERROR_CODES[code];
    this.status = status;
    // whoever should wait is told how long, wherever the error is thrown
    this.extras = retry === 'after' ? { retryAfter: RETRY_AFTER, ...extras } : extras;
  }

  get title(): string {
    return ERROR_CODES[this.code].title;
  }
}

/** 404 for an object: the same words whether it never existed or belongs to someone else. */
export function notFound(resource: string): AppError {
  return new AppError('not_found', `There is no such ${resource}.`);
}

/** 400 with the parameters at fault; `more` faults are known besides. */
export function invalidRequest(errors: readonly Fault[], more = 0): AppError {
  return new AppError('invalid_request', ...faultsOf(errors, more, 'The request is invalid.'));
}

/** 422 with the faults of the body; `more` are known besides. */
export function validationFailed(errors: readonly Fault[], more = 0): AppError {
  return new AppError('validation_failed', ...faultsOf(errors, more, 'The body is invalid.'));
}

function faultsOf(all: readonly Fault[], more: number, otherwise: string): [string, AppErrorExtras] {
  const errors = all.length > MOST_FAULTS ? all.slice(0, MOST_FAULTS) : all;
  const moreErrors = more + all.length - errors.length;
  return [summary(errors, moreErrors, otherwise), { errors, ...(moreErrors > 0 && { moreErrors }) }];
}

function summary(errors: readonly Fault[], more: number, otherwise: string): string {
  const [first] = errors;
  if (first === undefined) return otherwise;
  const where = first.parameter ?? (first.pointer === '' ? 'the body' : first.pointer);
  const others = errors.length - 1 + more;
  return `${where ?? 'request'}: ${first.detail}${others > 0 ? ` (and ${String(others)} more)` : ''}`;
}

/** The AppError inside an error, however deep the libraries wrapped it; undefined when there is none. */
export function findAppError(error: unknown): AppError | undefined {
  for (let current = error, depth = 0; current instanceof Error && depth < 8; depth += 1) {
    if (current instanceof AppError) return current;
    current = (current as { originalError?: unknown }).originalError ?? current.cause;
  }
  return undefined;
}
