import type { AppError } from '../errors';
import { type Exchange, send } from '../http/exchange';
import { problemText, setErrorHeaders } from '../http/problem';

/** Sends an error as a problem document (RFC 9457). */
export function sendProblem(exchange: Exchange, error: AppError): void {
  exchange.log.code = error.code;
  setErrorHeaders(exchange.response, error);
  send(exchange, error.status, 'application/problem+json', problemText(error, exchange.requestId));
}
