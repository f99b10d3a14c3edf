import type { ServerResponse } from 'node:http';
import type { AppError } from '../errors';

/** Headers that go with an error on both faces. */
export function setErrorHeaders(response: ServerResponse, error: AppError): void {
  const { retryAfter, allow } = error.extras;
  if (retryAfter !== undefined) response.setHeader('Retry-After', retryAfter);
  if (allow) response.setHeader('Allow', allow.join(', '));
  if (error.code === 'unauthenticated') response.setHeader('WWW-Authenticate', 'Bearer');
}
