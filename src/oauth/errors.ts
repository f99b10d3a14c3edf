import type { AppError } from '../errors';
import type { ErrorContent, ErrorFormat } from '../http/problem';

/** An error that an app reads, by its name in RFC 6749, 7591 or 8707. */
export interface OAuthFault {
  readonly error: string;
  readonly error_description: string;
}

/** The name of an error that is no app's fault, or has none of its own in OAuth. Of those of the server, RFC 6749 has names only for the page of consent (section 4.1.2.1); no other would tell an app to try again. */
function nameOf({ code, status }: Pick<AppError, 'code' | 'status'>): string {
  if (code === 'rate_limited' || code === 'unavailable') return 'temporarily_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request';
}

/** Errors of the gateway as OAuth writes them (RFC 6749, section 5.2). */
export const OAUTH_ERRORS: ErrorFormat = {
  contentType: 'application/json; charset=utf-8',
  textOf: (error: ErrorContent, requestId: string) =>
    JSON.stringify({ error: nameOf(error), error_description: error.detail, request_id: requestId }),
};
