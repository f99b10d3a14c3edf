import type { Logger } from 'pino';
import { redactPath } from '../log';
import type { Principal } from '../access/principal';
import type { Face, Metrics } from '../metrics';
import type { Exchange } from './exchange';

/** Status of a request whose caller disconnected before the answer, as in nginx. */
export const CALLER_LEFT = 499;

interface Watchers {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly finished: (exchange: Exchange, status: number) => void;
}

/** Logs and counts each request when it is done; the log line has no key, query or body. */
export function noteWhenDone(exchange: Exchange, face: Face, { logger, metrics, finished }: Watchers): void {
  const { request, response, path, requestId, address, log } = exchange;
  const started = performance.now();
  response.once('close', () => {
    const { operation, code, principal } = log;
    const ms = performance.now() - started;
    const status = response.writableFinished ? response.statusCode : CALLER_LEFT;
    finished(exchange, status);
    metrics.requestFinished({ face, operation, status, seconds: ms / 1000 });
    if (!logger.isLevelEnabled('info')) return;
    logger.info({
      request_id: requestId,
      method: request.method,
      path: redactPath(path),
      ...(operation === undefined ? {} : { operation }),
      status,
      ...(code === undefined ? {} : { code }),
      ms: Math.round(ms * 10) / 10,
      ...(principal && callerFields(principal)),
      address,
    });
  });
}

function callerFields(principal: Principal): Record<string, string> {
  const who = principal.kind === 'key' ? { key_id: principal.key.id } : { user_id: principal.user.id };
  return { ...who, organisation_id: principal.organisation.id };
}
