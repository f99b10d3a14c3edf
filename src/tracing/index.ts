import type { Tracing, TracingOptions } from './openTelemetry';

export type { Trace, Tracing } from './openTelemetry';

/*
 * Traces for OpenTelemetry, if OTEL_EXPORTER_OTLP_ENDPOINT is set. Its packages are only loaded then, so that nobody else pays
 * for them (docs/decisions/observability.md).
 */

/** Undefined if OTEL_EXPORTER_OTLP_ENDPOINT is not set. */
export async function openTracing(options: TracingOptions): Promise<Tracing | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = options.config;
  if (endpoint === undefined) return undefined;
  const { createTracing } = await import('./openTelemetry.js');
  return createTracing({ ...options, endpoint });
}
