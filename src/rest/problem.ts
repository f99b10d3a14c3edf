import type { AppError } from '../errors';
import { setErrorHeaders } from '../http/errorHeaders';
import { type Exchange, send } from '../http/exchange';

/** Answers with a problem (RFC 9457). */
export function sendProblem(exchange: Exchange, error: AppError): void {
  const { response, requestId } = exchange;
  const { requiredScope, errors, retryAfter } = error.extras;
  exchange.log.code = error.code;
  setErrorHeaders(response, error);
  const problem = {
    type: `/errors/${error.code}`,
    title: error.title,
    status: error.status,
    detail: error.detail,
    code: error.code,
    request_id: requestId,
    ...(requiredScope === undefined ? {} : { required_scope: requiredScope }),
    ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
    ...(errors === undefined ? {} : { errors }),
  };
  send(exchange, error.status, 'application/problem+json', JSON.stringify(problem));
}
