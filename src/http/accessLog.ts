import type { Logger } from 'pino';
import { redactPath } from '../log';
import type { Face, Metrics } from '../metrics';
import type { Exchange } from './exchange';

/** Status of a request whose caller left before the answer, as nginx has it. */
const CALLER_LEFT = 499;

/** One line and one count a request, when it is done; no key, no query, no body in it. */
export function noteWhenDone(exchange: Exchange, face: Face, logger: Logger, metrics: Metrics): void {
  const { request, response, path, requestId, address, log } = exchange;
  const started = performance.now();
  response.once('close', () => {
    const { operation, code, principal } = log;
    const ms = performance.now() - started;
    const status = response.writableFinished ? response.statusCode : CALLER_LEFT;
    metrics.requestFinished({ face, operation, status, seconds: ms / 1000 });
    logger.info({
      request_id: requestId,
      method: request.method,
      path: redactPath(path),
      ...(operation === undefined ? {} : { operation }),
      status,
      ...(code === undefined ? {} : { code }),
      ms: Math.round(ms * 10) / 10,
      ...(principal && { key_id: principal.key.id, organisation_id: principal.organisation.id }),
      address,
    });
  });
}
