import type { ServerResponse } from 'node:http';
import type { AppError } from '../errors';

/** Headers that go with an error on both faces. */
export function setErrorHeaders(response: ServerResponse, error: AppError): void {
  if (error.extras.retryAfter !== undefined) response.setHeader('Retry-After', error.extras.retryAfter);
  if (error.code === 'unauthenticated') response.setHeader('WWW-Authenticate', 'Bearer');
}
