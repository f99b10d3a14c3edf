import type { components } from './openapi.js';

type Problem = components['schemas']['Problem'];
/** The known members of a problem, as the API names them. */
type Known = Pick<Problem, 'status' | 'code' | 'detail'> & Partial<Problem>;

/** Why a call failed. Branch on `code`, show people `detail`, quote `requestId` to support. */
export class ScopegateError extends Error {
  override readonly name = 'ScopegateError';
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  /** A code of the API; `no_answer` or `unexpected_response` if the API did not answer; `etag_refused` (see `patch`). */
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  /** Each fault of the request, with its `parameter` or its `pointer` into the body. */
  readonly errors: readonly components['schemas']['Fault'][];
  readonly requestId: string | undefined;
  /** Seconds to wait before a retry, if the answer gives them. */
  readonly retryAfter: number | undefined;

  constructor(problem: Known) {
    super(`${problem.code}: ${problem.detail}`);
    ({ status: this.status, code: this.code, detail: this.detail, title: this.title = problem.code } = problem);
    ({ errors: this.errors = [], request_id: this.requestId } = problem);
    const { retry_after: after = -1 } = problem;
    this.retryAfter = Number.isFinite(after) && after >= 0 ? after : undefined;
  }

  /** Whether the same request may succeed later. The client has already used up its retries. */
  get isRetryable(): boolean {
    // a conflict that names a member fails again
    if (this.code === 'conflict') return this.errors.length === 0;
    // what another program stored wrongly stays wrong
    if (this.code === 'stored_object_invalid') return false;
    return RETRYABLE.includes(this.code) || this.status === 429 || this.status >= 500;
  }
}

/** Besides 429 and 5xx (guide for integrators, "Retrying"). */
const RETRYABLE = ['idempotency_in_progress', 'no_answer', 'unexpected_response'];

export interface GraphQLError {
  readonly message: string;
  readonly extensions?: Partial<Problem>;
}

export function errorOfGraphQL({ message, extensions }: GraphQLError): ScopegateError {
  return new ScopegateError({ code: 'internal', status: 500, ...extensions, detail: message });
}

/** The error in an answer: a problem document of REST, or the first error of GraphQL. */
export function errorOf({ status, headers, url }: Response, text: string): ScopegateError {
  const seconds = secondsOf(headers.get('Retry-After'));
  const after = seconds === undefined ? {} : { retry_after: seconds };
  const said = (parse(text) ?? {}) as Partial<Problem>;
  const isProblem = headers.get('Content-Type')?.startsWith('application/problem+json');
  // other servers send problem documents, too
  if (isProblem && said.code !== undefined && said.request_id !== undefined)
    return new ScopegateError({ status, code: said.code, detail: said.title ?? said.code, ...said, ...after });
  const errors: unknown = said.errors;
  const [error] = Array.isArray(errors) ? (errors as readonly GraphQLError[]) : [];
  const id = headers.get('X-Request-Id');
  if (error?.extensions?.code)
    return errorOfGraphQL({ ...error, extensions: { ...(id && { request_id: id }), ...error.extensions, ...after } });
  const detail = `${withoutQuery(url)} answered ${String(status)}, but that is not a Scopegate response.`;
  return new ScopegateError({ status, code: 'unexpected_response', detail, ...after });
}

export function noAnswer(url: string, cause: unknown): ScopegateError {
  // fetch puts the reason into the cause of its error, whose own message can contain the whole URL
  const { message, cause: reason } = cause as Error & { cause?: { code?: string; message?: string } };
  const detail = `No answer from ${withoutQuery(url)}: ${reason?.code ?? reason?.message ?? message}.`;
  return new ScopegateError({ status: 0, code: 'no_answer', detail });
}

/** Parses JSON; undefined if it is invalid. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Filters can be personal data, which an error message would bring into logs. */
const withoutQuery = (url: string): string => url.split('?', 1).join('');

/** The seconds of a `Retry-After`, which from a proxy may be a date. */
function secondsOf(header: string | null): number | undefined {
  const seconds = /^\d+$/.test(header ?? '') ? Number(header) : (Date.parse(header ?? '') - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** Longest wait of the client's own, and by Retry-After, since a proxy's date may be wrong, in seconds. */
export const LONGEST = 30;
const LONGEST_SAID = 600;

export type OnRetry = ((error: ScopegateError, seconds: number) => void) | undefined;

/**
 * Waits 0.5, 1, 2, … 30 seconds, longer with each failed attempt, and at least as long as the answer asks. Adds up to a quarter, so that
 * clients that failed together do not come back together. @throws the reason of `signal`
 */
export async function waitAfter(failures: number, error: ScopegateError, onRetry: OnRetry, signal?: AbortSignal) {
  const growing = Math.min(LONGEST, 2 ** (failures - 2)) * (1 + Math.random() / 4);
  const seconds = Math.max(growing, Math.min(error.retryAfter ?? 0, LONGEST_SAID));
  onRetry?.(error, seconds);
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, seconds * 1000);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
    signal?.addEventListener('abort', done);
  });
  signal?.throwIfAborted();
}
