import type { ServerResponse } from 'node:http';
import type { AppError, AppErrorExtras } from '../errors';
import { send } from './answer';
import type { Exchange } from './exchange';

/** The content of an error: an AppError's, or that of an answer to a connection rejected before there was a request. */
export type ErrorContent = Pick<AppError, 'code' | 'status' | 'title' | 'detail' | 'extras'>;

/** How the body of an error response is written: as a problem, or as `errors` in GraphQL. */
export interface ErrorFormat {
  readonly contentType: string;
  readonly textOf: (error: ErrorContent, requestId: string) => string;
}

/** Problem documents (RFC 9457), in REST and pages. */
export const PROBLEM: ErrorFormat = { contentType: 'application/problem+json', textOf: problemText };

/** Answers a request with an error, unless an answer has begun. */
export function writeError(
  exchange: Pick<Exchange, 'request' | 'response'>,
  error: ErrorContent,
  { contentType, textOf }: ErrorFormat = PROBLEM,
): void {
  const { response } = exchange;
  if (response.headersSent) return;
  setErrorHeaders(response, error);
  send(exchange, error.status, contentType, textOf(error, String(response.getHeader('X-Request-Id'))));
}

export function setErrorHeaders(response: ServerResponse, error: ErrorContent): void {
  for (const [name, value] of Object.entries(errorHeaders(error))) {
    // a challenge that names an authorization server stays
    if (name !== 'WWW-Authenticate' || !response.hasHeader(name)) response.setHeader(name, value);
  }
}

export function errorHeaders({ code, extras: { retryAfter, allow, accepts } }: ErrorContent): Record<string, string> {
  return {
    ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
    ...(allow && { Allow: allow.join(', ') }),
    ...accepts,
    ...(code === 'unauthenticated' && { 'WWW-Authenticate': 'Bearer' }),
  };
}

export function problemText(error: ErrorContent, requestId: string): string {
  return JSON.stringify({ ...problemOf(error, requestId), ...extraMembers(error.extras) });
}

/** The members that every problem has. */
export function problemOf({ code, title, status, detail }: Omit<ErrorContent, 'extras'>, requestId: string) {
  return { type: `/errors/${code}`, title, status, detail, code, request_id: requestId };
}

/** Members of a problem in addition to the common ones; JSON omits those that do not apply. */
export function extraMembers(extras: AppErrorExtras): Record<string, unknown> {
  const { requiredScope, retryAfter, errors, moreErrors } = extras;
  return { required_scope: requiredScope, retry_after: retryAfter, errors, more_errors: moreErrors };
}
