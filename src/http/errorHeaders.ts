import type { ServerResponse } from 'node:http';
import type { AppError } from '../errors';

/** Headers that go with an error on both faces. */
export function errorHeaders({ code, extras: { retryAfter, allow } }: AppError): Record<string, string> {
  return {
    ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
    ...(allow === undefined ? {} : { Allow: allow.join(', ') }),
    ...(code === 'unauthenticated' ? { 'WWW-Authenticate': 'Bearer' } : {}),
  };
}

export function setErrorHeaders(response: ServerResponse, error: AppError): void {
  for (const [name, value] of Object.entries(errorHeaders(error))) response.setHeader(name, value);
}
