import type { ServerResponse } from 'node:http';
import type { AppErrorExtras, ErrorCode } from '../errors';

/*
 * The representation of errors: a problem (RFC 9457) in REST and pages, and the same members in `extensions` in GraphQL.
 */

/** The content of an error: an AppError, or a connection that Node rejected before there was a request. */
export interface ErrorContent {
  readonly code: ErrorCode;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly extras: AppErrorExtras;
}

/** A problem as JSON text. */
export function problemText({ code, status, title, detail, extras }: ErrorContent, requestId: string): string {
  const common = { type: `/errors/${code}`, title, status, detail, code, request_id: requestId };
  return JSON.stringify({ ...common, ...extraMembers(extras) });
}

/** Members in addition to the common ones, where they apply. */
export function extraMembers({
  requiredScope,
  retryAfter,
  errors,
  moreErrors,
}: AppErrorExtras): Record<string, unknown> {
  return {
    ...(requiredScope === undefined ? {} : { required_scope: requiredScope }),
    ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
    ...(errors === undefined ? {} : { errors }),
    ...(moreErrors === undefined ? {} : { more_errors: moreErrors }),
  };
}

/** Headers of an error response. */
export function errorHeaders({ code, extras: { retryAfter, allow } }: ErrorContent): Record<string, string> {
  return {
    ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
    ...(allow === undefined ? {} : { Allow: allow.join(', ') }),
    ...(code === 'unauthenticated' ? { 'WWW-Authenticate': 'Bearer' } : {}),
  };
}

export function setErrorHeaders(response: ServerResponse, error: ErrorContent): void {
  for (const [name, value] of Object.entries(errorHeaders(error))) response.setHeader(name, value);
}
