import type { IncomingMessage } from 'node:http';
import type { mongo } from 'mongoose';
import type { Config } from '../config';

/* What is traced, whatever makes the spans. */

/** Runs one step of a request inside a span of its own. */
export type Trace = <T>(name: string, run: () => T) => T;

/** A request, as far as its span needs it. */
export interface TracedRequest {
  readonly request: IncomingMessage;
  readonly requestId: string;
  readonly address: string;
  /** The path, safe to show. */
  readonly path: string;
  /** Part of the gateway that answers. */
  readonly face: string;
}

/** How a request ended. */
export interface Ended {
  readonly status: number;
  readonly operation: string | undefined;
  readonly keyId: string | undefined;
  readonly organisationId: string | undefined;
}

/** The span of a request. */
export interface RequestSpan {
  readonly traceId: string;
  /** The header for those who want to go on with this trace. */
  readonly traceparent: string;
  /** Runs its work, so that the spans of commands and steps belong to it. */
  readonly run: <T>(work: () => T) => T;
  readonly step: Trace;
  end(how: Ended): void;
}

export interface Tracing {
  /** Begins the span of a request, inside the trace of its caller if it names one. */
  begin(traced: TracedRequest): RequestSpan;
  /** Makes spans of the commands of a client, which must monitor them. */
  readonly watchClient: (client: mongo.MongoClient, cluster: string) => void;
  /** Sends what is left. */
  stop(): Promise<void>;
}

export interface TracingOptions {
  readonly config: Pick<Config, 'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_EXPORTER_OTLP_HEADERS'>;
  readonly version: string;
  /** What a caller is told of an error. */
  readonly answerOf: (error: unknown) => { readonly status: number; readonly code: string };
  /** Called when traces cannot be sent, at most once a minute. */
  readonly onError: (error: unknown) => void;
}
