import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Config } from '../config';
import { commandSpans } from './commandSpans';

/* Names of spans and attributes follow OpenTelemetry's semantic conventions; ours begin with `scopegate.`. */

/** How long the end of the process may wait for traces to be sent, in milliseconds. */
const STOP_WITHIN = 2000;

/** Runs one step of a request inside a span of its own. */
export type Trace = <T>(name: string, run: () => T) => T;

/** What a span needs to know of a request. */
interface TracedRequest {
  readonly request: IncomingMessage;
  readonly requestId: string;
  readonly address: string;
  /** The path, safe to show. */
  readonly path: string;
  /** The part of the gateway that answers. */
  readonly face: string;
}

/** How a request ended. */
interface RequestEnd {
  readonly status: number;
  readonly operation: string | undefined;
  readonly keyId: string | undefined;
  readonly organisationId: string | undefined;
  /** Of bulk calls and writes: how many elements they had, and how many of these failed. */
  readonly elements: number | undefined;
  readonly elementsFailed: number | undefined;
}

export interface TracingOptions {
  readonly config: Pick<Config, 'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_EXPORTER_OTLP_HEADERS' | 'PUBLIC_URL'>;
  readonly version: string;
  /** What a caller gets for an error. */
  readonly answerOf: (error: unknown) => { readonly status: number; readonly code: string };
  /** Called whenever traces cannot be sent. */
  readonly onError: (error: unknown) => void;
}

const propagator = new W3CTraceContextPropagator();

export type Tracing = ReturnType<typeof createTracing>;

export function createTracing(options: TracingOptions & { readonly endpoint: string }) {
  const { endpoint, config, version, answerOf, onError } = options;
  // that which the caller used: TLS ends at the proxy in front
  const scheme = config.PUBLIC_URL?.startsWith('https:') === true ? 'https' : 'http';
  // both are global, so tests with several gateways in a process share them: the last handler, and the first manager
  setGlobalErrorHandler(onError);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, headers: { ...config.OTEL_EXPORTER_OTLP_HEADERS } });
  const provider = new BasicTracerProvider({
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'scopegate', 'service.version': version }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  const tracer = provider.getTracer('scopegate', version);

  return {
    /** Begins the span of a request, inside the trace of its caller if it names one. */
    begin({ request, requestId, address, path, face }: TracedRequest) {
      const parent = propagator.extract(context.active(), request.headers, defaultTextMapGetter);
      const method = request.method ?? '';
      const attributes = {
        'http.request.method': method,
        'url.path': path,
        'url.scheme': scheme,
        'client.address': address,
        'scopegate.request_id': requestId,
      };
      const span = tracer.startSpan(`${method} ${face}`, { kind: SpanKind.SERVER, attributes }, parent);
      return startRequestSpan(tracer, span, { title: `${method} ${face}`, answerOf });
    },
    /** Makes spans for the commands of a client, which must have command monitoring on. */
    watchClient: commandSpans(tracer),
    /** Sends what is left, for at most {@link STOP_WITHIN}. Does not reject. */
    stop: async (): Promise<void> => {
      await Promise.race([provider.shutdown().catch(onError), sleep(STOP_WITHIN, undefined, { ref: false })]);
    },
  };
}

function startRequestSpan(
  tracer: Tracer,
  span: Span,
  { title, answerOf }: Pick<TracingOptions, 'answerOf'> & { readonly title: string },
) {
  const within = trace.setSpan(context.active(), span);
  const carrier: { traceparent?: string } = {};
  propagator.inject(within, carrier, defaultTextMapSetter);
  return {
    traceId: span.spanContext().traceId,
    /** The header with which others can continue this trace. */
    traceparent: carrier.traceparent ?? '',
    /** Runs the work of the request, whose commands and steps get spans below this one. */
    run: <T>(work: () => T): T => context.with(within, work),
    step: (<T>(name: string, run: () => T) =>
      tracer.startActiveSpan(name, { attributes: { 'scopegate.operation': name } }, (step) =>
        runInSpan(step, run, answerOf),
      )) satisfies Trace,
    end({ status, operation, keyId, organisationId, elements, elementsFailed }: RequestEnd): void {
      if (operation !== undefined)
        span.updateName(`${title} ${operation}`.slice(0, 200)).setAttribute('scopegate.operation', operation);
      if (keyId !== undefined) span.setAttribute('scopegate.key.id', keyId);
      if (organisationId !== undefined) span.setAttribute('scopegate.organisation.id', organisationId);
      if (elements !== undefined) span.setAttribute('scopegate.elements', elements);
      if (elementsFailed !== undefined) span.setAttribute('scopegate.elements_failed', elementsFailed);
      span.setAttribute('http.response.status_code', status);
      // a caller's mistake does not mark the server's span as failed
      if (status >= 500) span.setAttribute('error.type', String(status)).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/**
 * Runs work and ends the span with it. Returns and throws what the work does. Of an error only the code or class is kept, since its message may
 * quote what the caller sent; one that is answered with 4xx does not mark the span as failed.
 */
function runInSpan<T>(span: Span, run: () => T, answerOf: TracingOptions['answerOf']): T {
  const fail = (error: unknown): never => {
    const { status, code } = answerOf(error);
    if (status < 500) span.setAttribute('scopegate.code', code);
    else span.setAttribute('error.type', typeOf(error)).setStatus({ code: SpanStatusCode.ERROR });
    span.end();
    throw error;
  };
  let result: T;
  try {
    result = run();
  } catch (error) {
    return fail(error);
  }
  if (!(result instanceof Promise)) {
    span.end();
    return result;
  }
  return result.then((value: unknown) => {
    span.end();
    return value;
  }, fail) as T;
}

function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code, name } = error as { code?: unknown } & Error;
  return typeof code === 'string' || typeof code === 'number' ? String(code) : name;
}
