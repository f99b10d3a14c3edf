import { redactPath } from '../log';
import type { Tracing } from '../tracing';
import { CALLER_LEFT } from './accessLog';
import type { Exchange } from './exchange';

/** Begins the span of an exchange, which ends with it; returns how to run its work. */
export function traced(
  tracing: Tracing,
  exchange: Exchange,
  face: string,
): (work: () => Promise<void>) => Promise<void> {
  const { request, response, requestId, address, path, log } = exchange;
  const span = tracing.begin({ request, requestId, address, path: redactPath(path), face });
  response.setHeader('Traceparent', span.traceparent);
  log.traceId = span.traceId;
  exchange.trace = span.step;
  response.once('close', () => {
    const { operation, principal } = log;
    const status = response.writableFinished ? response.statusCode : CALLER_LEFT;
    const keyId = principal?.kind === 'key' ? principal.key.id : undefined;
    span.end({ status, operation, keyId, organisationId: principal?.organisation.id });
  });
  return span.run;
}
