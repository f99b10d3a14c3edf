import { ERROR_CODES, type ErrorCode, RETRY_AFTER } from './codes';
import type { FaultCode } from './faultCodes';

export { CODES, ERROR_CODES, type ErrorCode, RETRIES, type Retry, RETRY_AFTER } from './codes';
export type { FaultCode } from './faultCodes';

/*
 * The only error type shown to callers, whatever they call: http/problem.ts writes an AppError for every API and page, in GraphQL with the body of
 * graphql/errors.ts.
 */

/** One fault of a request. Its place is one of `pointer` and `parameter`. */
export interface Fault {
  /** A JSON Pointer into the body; empty for the whole body. */
  readonly pointer?: string;
  /** The name of a parameter or header. */
  readonly parameter?: string;
  readonly code: FaultCode;
  /** A clause that goes on after the place, such as `must be a date`. */
  readonly detail: string;
}

/** Maximum faults listed in a response; the rest are counted. */
export const MAX_FAULTS = 100;

/** The faults of a value; it is valid if there are none. */
export interface Findings {
  /** The first faults, at most as many as the check keeps. */
  readonly faults: readonly Fault[];
  /** How many others were counted. */
  readonly more: number;
  /** Whether counting stopped early, so there may be more than `more`. */
  readonly isTruncated: boolean;
}

export interface FaultLimits {
  /** How many faults a check reports. */
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
  // the database does not respond or cannot serve
  'away',
  // it took too long
  'slow',
  // too much is in progress
  'shed',
  // the organisation is being moved to another shard, or erased
  'moving',
  'erased',
  // the gateway stops
  'draining',
  // too many events are not recorded yet
  'not_recorded',
  // the caller left, or does not read its stream
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
  /** How many faults `errors` leaves out; at least so many if counting stopped early. */
  readonly moreErrors?: number;
  /** Seconds to wait before a retry: `Retry-After`. */
  readonly retryAfter?: number;
  /** Methods that the route supports, for 405. */
  readonly allow?: readonly string[];
  /** Headers, by name, that say what the route takes, for 415, or what the file has, for 416. */
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
const RETRY_AFTER_MOVE = 5;

/** 503 while an organisation is being moved. */
export function movingError(): AppError {
  const detail = 'The organisation is being moved to another shard; nothing was read or stored.';
  return new AppError('unavailable', detail, { reason: 'moving', retryAfter: RETRY_AFTER_MOVE });
}

/** 404 for an object, called `name` (`quote`, `API key`): the same message whether it never existed or belongs to another organisation. */
export function notFound(name: string): AppError {
  return new AppError('not_found', `There is no such ${name.replaceAll('_', ' ')}.`);
}

/** 400 with the invalid parameters, and the number of others (`more`) that are not listed. */
export function invalidRequest(errors: readonly Fault[], more = 0): AppError {
  return new AppError('invalid_request', ...faultsOf(errors, more, 'The request is invalid.'));
}

/**
 * 422 with the faults of the body, and the number of others (`more`) that are not listed; at least that many if `isTruncated`. 500 if the caller
 * can mend none of them: a `rule` is code of the user's own schema that threw.
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
  // no place before it: that there are too many objects already is no fault of the body
  if (first.pointer === '' && first.code === 'too_many')
    return first.detail.replace(/^./, (letter) => letter.toUpperCase());
  const where = first.parameter ?? (first.pointer === '' ? 'the body' : first.pointer);
  const others = errors.length - 1 + more;
  return `${where ?? 'request'}: ${first.detail}${others > 0 ? ` (and ${isTruncated ? 'at least ' : ''}${String(others)} more)` : ''}`;
}

/** An error and its causes, since libraries may wrap an error several times; at most 8, as they may be a cycle. */
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
