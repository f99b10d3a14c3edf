import type { ServerResponse } from 'node:http';
import type { AppErrorExtras, ErrorCode } from '../errors';

/*
 * What an error says, written here alone: a problem (RFC 9457) on REST and the pages, the same members in `extensions` on
 * GraphQL.
 */

/** What is said of an error: an AppError, or what Node refused before there was a request. */
export interface Told {
  readonly code: ErrorCode;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly extras: AppErrorExtras;
}

/** A problem as JSON text. */
export function problemText({ code, status, title, detail, extras }: Told, requestId: string): string {
  const common = { type: `/errors/${code}`, title, status, detail, code, request_id: requestId };
  return JSON.stringify({ ...common, ...extraMembers(extras) });
}

/** Members that an error has besides the common ones, where they apply. */
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

/** Headers that go with an error wherever it is answered. */
export function errorHeaders({ code, extras: { retryAfter, allow } }: Told): Record<string, string> {
  return {
    ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
    ...(allow === undefined ? {} : { Allow: allow.join(', ') }),
    ...(code === 'unauthenticated' ? { 'WWW-Authenticate': 'Bearer' } : {}),
  };
}

export function setErrorHeaders(response: ServerResponse, error: Told): void {
  for (const [name, value] of Object.entries(errorHeaders(error))) response.setHeader(name, value);
}
